// Seals bytes and texts that only a holder of a key may read, by AES-256-GCM. The content of a mail
// has a key of its own, in another store than the sealed content; destroying either one makes it
// unreadable. The secrets of webhooks are sealed under keys made of a secret of the installation.

import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { RandomBytes } from "./ids.ts";
import type { SecretList } from "./secrets.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key of 32 bytes, and the record that a box belongs to; no record by default. */
interface BoxKey {
  readonly key: Uint8Array;
  readonly label?: string;
}

/** Seals bytes into a box: nonce, ciphertext, tag. */
export function sealBytes(
  bytes: Uint8Array,
  { key, label = "" }: BoxKey,
  random: RandomBytes,
): Buffer {
  const nonce = random(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(label));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** The bytes in a box; null if key, label or any bit differs from when it was sealed. */
export function openBytes(
  box: Uint8Array,
  { key, label = "" }: BoxKey,
): Buffer<ArrayBuffer> | null {
  const tagStart = box.length - TAG_BYTES;
  if (key.length !== KEY_BYTES || tagStart < NONCE_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, box.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(label))
    .setAuthTag(box.subarray(tagStart));
  try {
    const bytes = decipher.update(box.subarray(NONCE_BYTES, tagStart));
    return Buffer.concat([bytes, decipher.final()]);
  } catch {
    return null;
  }
}

/** The key that HKDF (RFC 5869) makes of a secret; `purpose` keeps it apart from all others. */
export function keyFrom(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", purpose, KEY_BYTES));
}

export interface Sealed {
  readonly key: Uint8Array;
  readonly box: Uint8Array;
}

/** Seals a text under a new key; `label` binds it to the record that it belongs to. */
export function seal(text: string, label: string, random: RandomBytes): Sealed {
  const key = random(KEY_BYTES);
  return { key, box: sealBytes(Buffer.from(text), { key, label }, random) };
}

/** The text; null if key, label or any bit differs from when it was sealed. */
export function unseal({ key, box }: Sealed, label: string): string | null {
  return openBytes(box, { key, label })?.toString() ?? null;
}

/** Seals and opens texts under keys made of secrets of the installation. */
export class Seals {
  readonly #keys: readonly Uint8Array[];

  /** `purpose` keeps the keys apart from all others that are made of the same secrets. */
  constructor(secrets: SecretList, purpose: string) {
    this.#keys = secrets.map((secret) => keyFrom(secret, purpose));
  }

  /** Seals a text under the current secret; `label` binds it to the record that it belongs to. */
  seal(text: string, label: string, random: RandomBytes): Uint8Array {
    const [key = new Uint8Array()] = this.#keys;
    return sealBytes(Buffer.from(text), { key, label }, random);
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
