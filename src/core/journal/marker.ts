// Markers of idempotency keys. A marker has two keyed digests of a request: the account with its
// idempotency key, and the path with the body. Neither the key nor the body can be found from it.

import { parseMetadata } from "./journal.ts";

/** 128 bits in base64url. */
const DIGEST_LENGTH = 22;
const DIGEST_BYTES = 16;

/** The parts of a request from which its marker is made. */
export interface MarkedRequest {
  readonly accountId: string;
  readonly idempotencyKey: string;
  /** A digest of method, path, query and body. */
  readonly digest: string;
}

/** The marker of a request. */
export function markerOf(
  secret: string,
  { accountId, idempotencyKey, digest }: MarkedRequest,
): string {
  const name = hasher(secret).update(JSON.stringify(["key", accountId, idempotencyKey]));
  const content = hasher(secret).update(JSON.stringify(["request", digest]));
  return shortened(name) + shortened(content);
}

function hasher(secret: string): Bun.CryptoHasher {
  return new Bun.CryptoHasher("sha256", secret);
}

function shortened(digest: Bun.CryptoHasher): string {
  return digest.digest().subarray(0, DIGEST_BYTES).toString("base64url");
}

/** The part that all requests of one account and idempotency key share. */
export function markerName(marker: string): string {
  return marker.slice(0, DIGEST_LENGTH);
}

/** The part that all requests with one path and body share. */
export function markerContent(marker: string): string {
  return marker.slice(DIGEST_LENGTH);
}

/** The marker in metadata by `metadataText`; null if the call has none. */
export function markerIn(metadata: string): string | null {
  if (!metadata.startsWith("[")) return null;
  return parseMetadata(metadata).marker ?? null;
}
