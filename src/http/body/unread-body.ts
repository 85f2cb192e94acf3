// Discards a body that a refusal leaves unread. Normally Bun discards it as it comes, and keeps the
// connection; only a key that floods us loses the connection (D-512). A client that asked for the
// connection to be closed needs help: Bun closes it with the answer while the client still sends,
// and the client sees only a broken connection.

import type { Clock } from "../../core/clock.ts";
import { isLargeBody } from "./body-shares.ts";
import { declaredLength } from "./read-body.ts";

/** The most that is discarded for such a client: the largest chat without images. */
const DRAINED_BYTES_MAX = 4 * 1024 * 1024;
const DRAINED_MS_MAX = 1_000;

/** True if a large body, or one of unknown length, is still to come. */
export function hasLargeUnread(request: Request): boolean {
  return isLargeBody(declaredLength(request)) && !request.bodyUsed && request.body !== null;
}

/** Discards the unread body of a client that wants its connection closed, within limits. */
export async function drainForCloser(request: Request, clock: Pick<Clock, "after">): Promise<void> {
  if (request.headers.get("connection")?.toLowerCase() !== "close") return;
  if (request.bodyUsed || request.body === null) return;
  const reader = request.body.getReader();
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const stop = clock.after(DRAINED_MS_MAX, () => resolve(null));
  try {
    let left = DRAINED_BYTES_MAX;
    while (left >= 0) {
      const piece = await Promise.race([reader.read(), late]);
      if (piece?.value === undefined) return;
      left -= piece.value.byteLength;
    }
  } catch {
    // The client is gone.
  } finally {
    stop();
  }
}
