// Gives the items of a reply ids that carry their content (item-seals.ts).

import { isObject, type Json } from "../../../../core/text/json.ts";
import { ITEMS_BYTES_MAX, type ItemSeals, PACKED_BYTES_MAX } from "./item-seals.ts";
import { CALL_ITEMS } from "./served-tools.ts";

const IMAGE = "image_generation_call";

/** The beginning of an id by the kind of its item. */
const KINDS: ReadonlyMap<unknown, string> = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["web_search_call", "ws"],
  ["computer_call", "cu"],
  ...Object.values(CALL_ITEMS).map(({ item, prefix }) => [item, prefix] as const),
  [IMAGE, "ig"],
  ["compaction", "cmp"],
]);

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
    const id = this.#seals.seal(this.#account, kind, { items: [kept.json], isIndex: false });
    return id === null ? item : { ...item, id };
  }

  /**
   * The last items of a stream, whose ids carry the items before them: their own ids were sent
   * before their content was known. Items that are too long for an id are in none.
   */
  indexes(items: readonly Json[]): readonly Json[] {
    const kept = items.flatMap((item) => (KINDS.has(item.type) ? (keptOf(item) ?? []) : []));
    return groupsOf(kept).flatMap((group) => {
      const id = this.#seals.seal(this.#account, "rs", { items: group, isIndex: true });
      return id === null ? [] : [{ id, type: "reasoning", summary: [] }];
    });
  }
}

interface KeptItem {
  readonly json: string;
  /** The bytes of the JSON and of the comma after it. */
  readonly bytes: number;
}

/**
 * An item that an id may carry. An image that is too long is kept without its content (D-842):
 * packing makes no image shorter.
 */
function keptOf(item: Json): KeptItem | null {
  const { id, type } = item;
  if (type !== IMAGE) return fitting(item, PACKED_BYTES_MAX);
  return fitting(item, ITEMS_BYTES_MAX) ?? fitting({ id, type }, ITEMS_BYTES_MAX);
}

function fitting(item: Json, bytesMax: number): KeptItem | null {
  const json = JSON.stringify(item);
  const bytes = Buffer.byteLength(json) + 1;
  return bytes <= bytesMax ? { json, bytes } : null;
}

/** The items in order, as JSON texts: as many in a row as fit into one id; a long one is alone. */
function groupsOf(kept: readonly KeptItem[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let left = 0;
  for (const { json, bytes } of kept) {
    const group = groups.at(-1);
    if (group === undefined || bytes > left) {
      groups.push([json]);
      left = ITEMS_BYTES_MAX - bytes;
    } else {
      group.push(json);
      left -= bytes;
    }
  }
  return groups;
}
