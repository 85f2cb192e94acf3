// The signature of a release: Ed25519 over the list of its files' digests.

import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { digestOf, NotReleasable } from "./source.ts";

/** A key that signs, as `openssl genpkey -algorithm ed25519` makes it. */
export interface SigningKey {
  /** The public key, in PEM. */
  readonly publicPem: string;
  /** SHA-256 of the public key in DER, by which people know it. */
  readonly fingerprint: string;
  /** A signature in base64, as `cosign verify-blob` and OpenSSL read it. */
  sign(text: string): string;
}

/** @throws {NotReleasable} for a key of another kind */
export function readSigningKey(pem: string): SigningKey {
  const key = privateKeyOf(pem);
  const publicKey = createPublicKey(key);
  return {
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    fingerprint: digestOf(publicKey.export({ type: "spki", format: "der" })),
    sign: (text) => `${sign(null, Buffer.from(text), key).toString("base64")}\n`,
  };
}

/**
 * The two commands that sign a release which was written without a key.
 * @param keyFile the path of the private key, on the machine that has it
 * @param folder the folder of the release
 */
export function signingCommands(keyFile: string, folder: string): readonly [string, string] {
  const sums = `'${folder}/SHA256SUMS'`;
  return [
    `openssl pkeyutl -sign -inkey '${keyFile}' -rawin -in ${sums} | ` +
      `openssl base64 -A > '${folder}/SHA256SUMS.sig'`,
    `openssl pkey -in '${keyFile}' -pubout > '${folder}/release.pub'`,
  ];
}

function privateKeyOf(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch (cause) {
    throw new NotReleasable("RELEASE_KEY_FILE names no private key in PEM", { cause });
  }
  throw new NotReleasable("RELEASE_KEY_FILE must name a key of Ed25519");
}
