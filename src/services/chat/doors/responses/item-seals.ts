// Seals items of a reply into ids, so that a caller can refer to an item although nothing is kept:
// a reference brings the item back. Only the account that got the reply can use it (D-686).

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { RandomBytes } from "../../../../core/ids.ts";
import { openBytes, sealBytes } from "../../../../core/sealed.ts";
import type { SecretList } from "../../../../core/secrets.ts";
import { isObject, type Json, jsonOrNull } from "../../../../core/text/json.ts";

/** The most bytes in an id. Callers send each id again with every request. */
export const SEALED_BYTES_MAX = 64 * 1024;
/** The bytes in an id besides its items, at most. */
const FRAME_BYTES_MAX = 64;
export const ITEMS_BYTES_MAX = SEALED_BYTES_MAX - FRAME_BYTES_MAX;
/** The most bytes of an item that is packed where it does not fit otherwise (D-842). */
export const PACKED_BYTES_MAX = 512 * 1024;
/** Stands after the kind of item in an id that carries its content. */
const MARK = "sealed1-";
const SEALED_ID = /^[a-z]{2,4}_sealed1-([\w-]+)$/;

/** The content of an id. */
export interface OpenedItems {
  /**
   * The items, each with the id that it has without a seal. Only the last item of a stream has
   * several, because a stream sends ids before their content is known.
   */
  readonly items: readonly Json[];
  readonly isIndex: boolean;
  /** The length of the items as JSON. */
  readonly characters: number;
}

/**
 * Items as JSON texts. Together with a comma each they fit into ITEMS_BYTES_MAX, unless there is
 * only one, which may be longer.
 */
interface ItemTexts {
  readonly items: readonly string[];
  readonly isIndex: boolean;
}

/** Makes and opens the ids of one installation. */
export class ItemSeals {
  readonly #secrets: SecretList;
  readonly #random: RandomBytes;

  constructor(secrets: SecretList, random: RandomBytes) {
    this.#secrets = secrets;
    this.#random = random;
  }

  /** The id of items, such as `msg_sealed1-…`; null for an item that is too long when packed. */
  seal(account: string, kind: string, { items, isIndex }: ItemTexts): string | null {
    const bytes = packed(Buffer.from(`{"items":[${items.join()}],"isIndex":${isIndex}}`));
    if (bytes === null) return null;
    const box = sealBytes(bytes, { key: keyOf(this.#secrets[0], account) }, this.#random);
    return `${kind}_${MARK}${box.toString("base64url")}`;
  }

  /** The items in an id of this account; null if it carries none, or is another account's. */
  open(account: string, id: string): OpenedItems | null {
    if (id.length > 2 * SEALED_BYTES_MAX) return null;
    const [, data] = SEALED_ID.exec(id) ?? [];
    if (data === undefined) return null;
    const box = Buffer.from(data, "base64url");
    for (const secret of this.#secrets) {
      const bytes = openBytes(box, { key: keyOf(secret, account) });
      const text = bytes === null ? "" : unpacked(bytes);
      const opened = jsonOrNull(text);
      if (!isObject(opened) || !Array.isArray(opened.items)) continue;
      const items = opened.items.filter(isObject);
      return { items, isIndex: opened.isIndex === true, characters: text.length };
    }
    return null;
  }
}

/** The first byte of packed bytes. Bytes that are not packed begin with the brace of an object. */
const PACKED = Buffer.of(1);

/** The bytes as they are if they are short, else packed; null if they do not fit into an id. */
function packed(bytes: Buffer): Buffer | null {
  if (bytes.length <= SEALED_BYTES_MAX) return bytes;
  const short = Buffer.concat([PACKED, deflateRawSync(bytes)]);
  return short.length <= SEALED_BYTES_MAX ? short : null;
}

function unpacked(bytes: Buffer): string {
  if (bytes[0] !== PACKED[0]) return bytes.toString();
  const options = { maxOutputLength: PACKED_BYTES_MAX + FRAME_BYTES_MAX };
  return inflateRawSync(bytes.subarray(PACKED.length), options).toString();
}

function keyOf(secret: string, account: string): Uint8Array {
  const words = JSON.stringify(["farebox item ids", account]);
  return new Bun.CryptoHasher("sha256", secret).update(words).digest();
}

/** True for an id that carries content. Other servers refuse ids of such a length. */
export function isSealedId(id: string): boolean {
  return SEALED_ID.test(id);
}
