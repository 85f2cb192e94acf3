// The markers of idempotency keys in the request log, from which Redis is rebuilt (D-753).

import { sql } from "drizzle-orm";
import { IDEMPOTENCY } from "../../core/access/limits.ts";
import { fromUuid } from "../../core/ids.ts";
import type { Queries } from "../servers/transaction.ts";

/** The marker of a charged request. */
export interface StoredMarker {
  readonly marker: string;
  readonly requestId: string;
  /** The time for which it still counts. */
  readonly leftMs: number;
}

/** The markers of an account that still count, the newest first. */
export async function readMarkers(tx: Queries, account: string): Promise<readonly StoredMarker[]> {
  const age = sql`extract(epoch FROM now() - at) * 1000`;
  const rows = await tx.execute<Record<"marker" | "request" | "left", string>>(sql`
    SELECT marker, request::text, (${IDEMPOTENCY.markerMs}::float8 - ${age})::text AS left
    FROM request_log
    WHERE account = (SELECT number FROM accounts WHERE id = ${account})
      AND marker IS NOT NULL AND cost > 0
      AND at > now() - ${IDEMPOTENCY.markerMs}::float8 * interval '1 millisecond'
    ORDER BY at DESC`);
  return rows.map(({ marker, request, left }) => {
    return { marker, requestId: fromUuid("request", request), leftMs: Math.floor(Number(left)) };
  });
}
