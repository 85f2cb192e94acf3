// The markers of idempotency keys in the request log, from which Redis is rebuilt (D-753).

import { sql } from "drizzle-orm";
import { IDEMPOTENCY } from "../../core/access/limits.ts";
import { fromUuid } from "../../core/ids.ts";
import type { Queries } from "../servers/transaction.ts";

/** The marker of charged requests: of one, or of all that made up a response. */
export interface StoredMarker {
  readonly marker: string;
  /** The oldest first. */
  readonly requestIds: readonly string[];
  /** The time for which it still counts. */
  readonly leftMs: number;
}

/** The markers of an account that still count, the newest first. */
export async function readMarkers(tx: Queries, account: string): Promise<readonly StoredMarker[]> {
  const age = sql`extract(epoch FROM now() - at) * 1000`;
  const rows = await tx.execute<Record<"marker" | "requests" | "left", string>>(sql`
    SELECT marker, string_agg(request::text, ' ' ORDER BY at, request) AS requests,
      (${IDEMPOTENCY.markerMs}::float8 - min(${age}))::text AS left
    FROM request_log
    WHERE account = (SELECT number FROM accounts WHERE id = ${account})
      AND marker IS NOT NULL AND cost > 0
      AND at > now() - ${IDEMPOTENCY.markerMs}::float8 * interval '1 millisecond'
    GROUP BY marker
    ORDER BY max(at) DESC`);
  return rows.map(({ marker, requests, left }) => {
    const requestIds = requests.split(" ").map((request) => fromUuid("request", request));
    return { marker, requestIds, leftMs: Math.floor(Number(left)) };
  });
}
