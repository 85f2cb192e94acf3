// Seals items of a reply into ids, so that a caller can refer to an item although nothing is kept:
// a reference brings the item back. Only the account that got the reply can use it (D-686).

import { createCipheriv, createDecipheriv } from "node:crypto";
import type { RandomBytes } from "../../../../core/ids.ts";
import type { SecretList } from "../../../../core/secrets.ts";
import { isObject, type Json, jsonOrNull } from "../../../../upstream/upstream-http.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The most bytes of an item in an id. Callers send each id again with every request. */
export const SEALED_BYTES_MAX = 64 * 1024;
/** Stands after the kind of item in an id that carries its content. */
const MARK = "sealed1-";
const SEALED_ID = /^[a-z]{2,4}_sealed1-([\w-]+)$/;

/** The content of an id. */
export interface SealedItems {
  /**
   * Each with the id that it has where it is not sealed. Several only in an item that a stream
   * ends with: ids are sent there before the content is known.
   */
  readonly items: readonly Json[];
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

  /** The id of an item, such as `msg_sealed1-…`; null if the content is too long. */
  seal(account: string, kind: string, { items, isIndex }: SealedItems): string | null {
    const text = Buffer.from(JSON.stringify({ items, isIndex }));
    if (text.length > SEALED_BYTES_MAX) return null;
    const nonce = this.#random(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, keyOf(this.#secrets[0], account), nonce);
    const box = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    return `${kind}_${MARK}${box.toString("base64url")}`;
  }

  /** The items in an id of this account; null if it carries none, or is another account's. */
  open(account: string, id: string): SealedItems | null {
    if (id.length > 2 * SEALED_BYTES_MAX) return null;
    const [, data] = SEALED_ID.exec(id) ?? [];
    if (data === undefined) return null;
    const box = Buffer.from(data, "base64url");
    for (const secret of this.#secrets) {
      const opened = jsonOrNull(openedText(box, keyOf(secret, account)) ?? "");
      if (!isObject(opened) || !Array.isArray(opened.items)) continue;
      return { items: opened.items.filter(isObject), isIndex: opened.isIndex === true };
    }
    return null;
  }
}

function openedText(box: Buffer, key: Uint8Array): string | null {
  const end = box.length - TAG_BYTES;
  if (end < NONCE_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, box.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(box.subarray(end));
  try {
    const text = decipher.update(box.subarray(NONCE_BYTES, end));
    return Buffer.concat([text, decipher.final()]).toString();
  } catch {
    // The id was changed, or sealed for another account.
    return null;
  }
}

function keyOf(secret: string, account: string): Uint8Array {
  const words = JSON.stringify(["farebox item ids", account]);
  return new Bun.CryptoHasher("sha256", secret).update(words).digest();
}

/** True for an id that carries content. Other servers refuse ids of such a length. */
export function isSealedId(id: string): boolean {
  return SEALED_ID.test(id);
}
