// Gives the items of a reply ids that carry their content (item-seals.ts).

import { isObject, type Json } from "../../../../core/text/json.ts";
import { type ItemSeals, SEALED_BYTES_MAX } from "./item-seals.ts";

const IMAGE = "image_generation_call";

/** The beginning of an id by the kind of its item. */
const KINDS: ReadonlyMap<unknown, string> = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["custom_tool_call", "ctc"],
  ["web_search_call", "ws"],
  [IMAGE, "ig"],
  ["compaction", "cmp"],
]);

/** The bytes in an id besides its items, at most. */
const FRAME_BYTES_MAX = 64;

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
    const kind = KINDS.get(item.type);
    const kept = kind === undefined ? null : keptOf(item);
    if (kind === undefined || kept === null) return item;
    const id = this.#seals.seal(this.#account, kind, { items: [kept.item], isIndex: false });
    return id === null ? item : { ...item, id };
  }

  /**
   * The last items of a stream, whose ids carry the items before them: their own ids were sent
   * before their content was known. Items that are too long for an id are in none.
   */
  indexes(items: readonly Json[]): readonly Json[] {
    const kept = items.flatMap((item) => (KINDS.has(item.type) ? (keptOf(item) ?? []) : []));
    return packed(kept).flatMap((pack) => {
      const id = this.#seals.seal(this.#account, "rs", { items: pack, isIndex: true });
      return id === null ? [] : [{ id, type: "reasoning", summary: [] }];
    });
  }
}

interface KeptItem {
  readonly item: Json;
  readonly bytes: number;
}

/** An item that an id can carry: an image that is too long is kept without its content (D-842). */
function keptOf(item: Json): KeptItem | null {
  const { id, type } = item;
  const short = type === IMAGE ? [{ id, type }] : [];
  const sized = [item, ...short].map((one) => ({ item: one, bytes: bytesOf(one) }));
  return sized.find(({ bytes }) => bytes + FRAME_BYTES_MAX <= SEALED_BYTES_MAX) ?? null;
}

/** The bytes of an item and of the comma after it. */
function bytesOf(item: Json): number {
  return Buffer.byteLength(JSON.stringify(item)) + 1;
}

/** The items in order, as many in a row as fit into one id. */
function packed(kept: readonly KeptItem[]): readonly (readonly Json[])[] {
  const packs: Json[][] = [];
  let left = 0;
  for (const { item, bytes } of kept) {
    const pack = packs.at(-1);
    if (pack === undefined || bytes > left) {
      packs.push([item]);
      left = SEALED_BYTES_MAX - FRAME_BYTES_MAX - bytes;
    } else {
      pack.push(item);
      left -= bytes;
    }
  }
  return packs;
}
