// Content that is stored only as long as necessary. Each message has its own key, in another store
// than the sealed content; destroying either one makes the content unreadable.

import { createCipheriv, createDecipheriv } from "node:crypto";
import type { RandomBytes } from "../../core/ids.ts";

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
  const [key, nonce] = [random(KEY_BYTES), random(NONCE_BYTES)];
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
