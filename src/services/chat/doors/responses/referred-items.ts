// Replaces references to items of earlier replies by the items themselves.

import { Value } from "@sinclair/typebox/value";
import { RESPONSES } from "../../../../core/access/limits.ts";
import type { Json } from "../../../../core/text/json.ts";
import { invalid, isAbsent } from "../../../../http/body/checks.ts";
import { type ItemSeals, isSealedId, type OpenedItems } from "./item-seals.ts";
import { InputItem } from "./response-items.ts";
import type { InputFields, ItemFields, ItemOf } from "./responses-body.ts";
import type { PlacedItem } from "./responses-prompt.ts";

const LOST =
  "is not the id of an item that carries its content: ids of another account do not, nor those " +
  "of items that are longer than 64 KB when packed. Nothing is stored here: send the items " +
  "themselves, as clients do with store: false";
/** A short id can stand for a long item, so together they are bounded as a body is. */
const CHARACTERS_MAX = RESPONSES.body.bytesMax;

/** Opens the ids that an account sends. */
export type OpenId = (id: string) => OpenedItems | null;

/** The ids of an account. */
export function openerFor(seals: ItemSeals, account: string): OpenId {
  return (id) => seals.open(account, id);
}

/** The items of an input. Throws an `invalid_parameter` for a reference that cannot be opened. */
export function itemsOf(input: InputFields["input"], open: OpenId): readonly PlacedItem[] {
  if (typeof input === "string") {
    return [{ item: { role: "user", content: input }, param: "input" }];
  }
  const known = new KnownItems(input, open);
  return input.flatMap((item, index) => {
    const param = `input[${index}]`;
    if (item.type !== "item_reference") return [{ item: withOwnId(item, known), param }];
    return known.referred(item, param).map((found) => ({ item: found, param }));
  });
}

/** The items in the ids of one input, by the ids that they had in their replies. */
class KnownItems {
  readonly #open: OpenId;
  readonly #byId = new Map<string, Json>();
  readonly #opened = new Map<string, OpenedItems>();
  #characters = 0;
  readonly #referred = new Set<string>();

  constructor(input: readonly ItemFields[], open: OpenId) {
    this.#open = open;
    for (const { id } of input) {
      if (isAbsent(id) || !isSealedId(id)) continue;
      for (const item of this.opened(id)?.items ?? []) this.#byId.set(String(item.id), item);
    }
  }

  opened(id: string): OpenedItems | null {
    const known = this.#opened.get(id);
    if (known !== undefined) return known;
    const opened = this.#open(id);
    if (opened === null) return null;
    this.#characters += opened.characters;
    if (this.#characters > CHARACTERS_MAX) {
      throw invalid("input", "must not refer to more than 32 MiB of items");
    }
    this.#opened.set(id, opened);
    return opened;
  }

  /**
   * The items of a reference; none for the index at the end of a stream. A reference must not be
   * repeated, because a short id can stand for a long item.
   */
  referred({ id }: ItemOf<"item_reference">, param: string): readonly ItemFields[] {
    if (this.#referred.has(id)) throw invalid(`${param}.id`, "must not be referred to twice");
    this.#referred.add(id);
    const sealed = this.opened(id);
    const item = this.#byId.get(id);
    if (sealed === null && item === undefined) throw invalid(`${param}.id`, LOST);
    if (sealed?.isIndex === true) return [];
    const items = sealed?.items ?? (item === undefined ? [] : [item]);
    return items.filter((one) => Value.Check(InputItem, one)) as unknown as ItemFields[];
  }
}

/** The item with the id that its server gave it, in place of the one that carries its content. */
function withOwnId(item: ItemFields, known: KnownItems): ItemFields {
  const { id } = item;
  if (isAbsent(id) || !isSealedId(id)) return item;
  const sealed = known.opened(id);
  const [own] = sealed === null || sealed.isIndex ? [] : sealed.items;
  const { id: _, ...others } = item;
  return (own === undefined ? others : { ...others, id: own.id }) as ItemFields;
}
