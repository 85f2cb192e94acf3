// Opens the texts of models that LiteLLM seals in its database with its salt key: in AES-256-GCM
// today, in XSalsa20-Poly1305 before. The address and the name of a model are among them.

import { createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";

const HKDF_INFO = "litellm-at-rest-v3";
const GCM = /^v([23]):gcm:([A-Za-z0-9_=-]+)$/;
const KEY_BYTES = 32;
const GCM_NONCE = 12;
const GCM_TAG = 16;
const SALSA_NONCE = 24;
const SALSA_TAG = 16;

/** Opens a text that LiteLLM sealed. Null for a text that this key does not open. */
export type Unseal = (text: string) => string | null;

/** Opens texts with the value of LITELLM_SALT_KEY, or of the master key if that is not set. */
export function unsealWith(saltKey: string): Unseal {
  const plain = createHash("sha256").update(saltKey).digest();
  const derived = Buffer.from(hkdfSync("sha256", saltKey, "", HKDF_INFO, KEY_BYTES));
  return (text) => {
    const [, version, sealed] = GCM.exec(text) ?? [];
    if (sealed !== undefined) {
      return opened(() =>
        openGcm(Buffer.from(sealed, "base64url"), version === "3" ? derived : plain),
      );
    }
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length <= SALSA_NONCE + SALSA_TAG) return null;
    return opened(() => {
      const nonce = bytes.subarray(0, SALSA_NONCE);
      return Buffer.from(xsalsa20poly1305(plain, nonce).decrypt(bytes.subarray(SALSA_NONCE)));
    });
  };
}

/** True for a text that looks sealed, whatever the key. */
export function isSealed(text: string): boolean {
  return GCM.test(text) || (text.length > 56 && /^[A-Za-z0-9_+/-]+=*$/.test(text));
}

function openGcm(bytes: Buffer, key: Buffer): Buffer {
  const end = bytes.length - GCM_TAG;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, GCM_NONCE));
  decipher.setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(GCM_NONCE, end)), decipher.final()]);
}

/** Returns the text, or null for a wrong key: both ciphers then throw their own error. */
function opened(open: () => Buffer): string | null {
  try {
    return open().toString("utf8");
  } catch {
    return null;
  }
}
