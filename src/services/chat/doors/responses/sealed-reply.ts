// Gives the items of a reply ids that carry their content (item-seals.ts).

import { isObject, type Json } from "../../../../core/text/json.ts";
import type { ItemSeals } from "./item-seals.ts";

/** The beginning of an id by the kind of its item. */
const KINDS: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
  web_search_call: "ws",
};

/** The ids of the replies of one account. */
export class SealReply {
  readonly #seals: ItemSeals;
  readonly #account: string;

  constructor(seals: ItemSeals, account: string) {
    this.#seals = seals;
    this.#account = account;
  }

  /** The item with an id that carries it; the item itself if it is too long, or of another kind. */
  one(item: Json): Json {
    if (!isObject(item)) return item;
    const kind = KINDS[String(item.type)];
    if (kind === undefined) return item;
    const id = this.#seals.seal(this.#account, kind, { items: [item], isIndex: false });
    return id === null ? item : { ...item, id };
  }

  /**
   * A last item of a stream, whose id carries the items before it: their own ids were sent before
   * their content was known. Null if there are none, or too many.
   */
  index(items: readonly Json[]): Json | null {
    const kept = items.filter((item) => isObject(item) && String(item.type) in KINDS);
    if (kept.length === 0) return null;
    const id = this.#seals.seal(this.#account, "rs", { items: kept, isIndex: true });
    return id === null ? null : { id, type: "reasoning", summary: [] };
  }
}
