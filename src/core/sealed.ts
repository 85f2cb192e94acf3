// Seals texts that a store must not be able to read. The content of a mail has a key of its own, in
// another store than the sealed content; destroying either one makes it unreadable. The secrets of
// webhooks are sealed under keys made of a secret of the installation.

import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { RandomBytes } from "./ids.ts";
import type { SecretList } from "./secrets.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Sealed {
  readonly key: Uint8Array;
  /** Nonce, ciphertext, tag. */
  readonly box: Uint8Array;
}

/** Seals a text under a new key; `label` binds it to the record that it belongs to. */
export function seal(text: string, label: string, random: RandomBytes): Sealed {
  return sealUnder(random(KEY_BYTES), { text, label }, random);
}

/** Seals a text under this key. */
function sealUnder(
  key: Uint8Array,
  { text, label }: { readonly text: string; readonly label: string },
  random: RandomBytes,
): Sealed {
  const nonce = random(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(label));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return { key, box: Buffer.concat([nonce, body, cipher.getAuthTag()]) };
}

/** The text; null if key, label or any bit differs from when it was sealed. */
export function unseal({ key, box }: Sealed, label: string): string | null {
  if (key.length !== KEY_BYTES || box.length < NONCE_BYTES + TAG_BYTES) return null;
  const tagStart = box.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, box.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(label))
    .setAuthTag(box.subarray(tagStart));
  try {
    const body = decipher.update(box.subarray(NONCE_BYTES, tagStart));
    return Buffer.concat([body, decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

/** Seals and opens texts under keys made of secrets of the installation. */
export class Seals {
  readonly #keys: readonly Uint8Array[];

  /** `purpose` keeps the keys apart from all others that are made of the same secrets. */
  constructor(secrets: SecretList, purpose: string) {
    this.#keys = secrets.map(
      (secret) => new Uint8Array(hkdfSync("sha256", secret, "", purpose, KEY_BYTES)),
    );
  }

  /** Seals a text under the current secret; `label` binds it to the record that it belongs to. */
  seal(text: string, label: string, random: RandomBytes): Uint8Array {
    const [key = new Uint8Array()] = this.#keys;
    return sealUnder(key, { text, label }, random).box;
  }

  /**
   * Opens a box of the current secret or of one that still counts; `isCurrent` is false for the
   * latter. Null if no secret opens it.
   */
  open(
    box: Uint8Array,
    label: string,
  ): { readonly text: string; readonly isCurrent: boolean } | null {
    for (const [at, key] of this.#keys.entries()) {
      const text = unseal({ key, box }, label);
      if (text !== null) return { text, isCurrent: at === 0 };
    }
    return null;
  }
}
