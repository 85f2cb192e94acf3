// Idempotency keys (SPEC 4.6.2): the first request with a key creates the message, all others
// receive its result.

import { lt, sql } from "drizzle-orm";
import { MAIL } from "../../core/access/limits.ts";
import { fromUuid, toUuid } from "../../core/ids.ts";
import type { Database } from "../servers/database.ts";
import { mailRepeats } from "../tables/mail-schema.ts";

/** A key of one account. Requests with the same key must have the same fingerprint. */
export interface IdempotencyKey {
  readonly accountId: string;
  /** A keyed digest of the key, because a key may contain personal data. */
  readonly digest: Uint8Array;
  /** A keyed digest of the request's body. */
  readonly fingerprint: Uint8Array;
}

/** The right to create the message of a key. */
export interface IdempotencyClaim {
  readonly accountId: string;
  readonly digest: Uint8Array;
  readonly claim: string;
}

export type IdempotencyState =
  | { readonly kind: "mine"; readonly claim: IdempotencyClaim }
  /** Another request is creating the message now. */
  | { readonly kind: "pending" }
  | { readonly kind: "message"; readonly id: string }
  /** The key was used with another body before. */
  | { readonly kind: "reused" };

/**
 * The time that a request may take to create its message. Then the process of the key counts as
 * dead.
 */
const CLAIM_MS = 15_000;

export class IdempotencyKeys {
  constructor(readonly database: Database) {}

  /**
   * Claims the key, or returns its state. `claim` is a new UUID. `earlier` is the same key under
   * secrets that are being replaced: a message found there moves to the current key.
   */
  async begin(
    key: IdempotencyKey,
    claim: string,
    earlier: readonly IdempotencyKey[] = [],
  ): Promise<IdempotencyState> {
    const { sql } = this.database;
    for (const old of earlier) if (await this.#isPending(old, key)) return { kind: "pending" };
    const { accountId, digest, fingerprint } = key;
    const won = await sql`
      INSERT INTO mail_repeats AS r (account, digest, fingerprint, claim, claimed_until)
      SELECT number, ${digest}, ${fingerprint}, ${claim}, now() + ${CLAIM_MS} * interval '1 ms'
      FROM accounts WHERE id = ${accountId}
      ON CONFLICT (account, digest) DO UPDATE SET fingerprint = excluded.fingerprint,
        claim = excluded.claim, claimed_until = excluded.claimed_until, message = NULL,
        created_at = now()
      WHERE r.created_at < now() - ${MAIL.idempotencyMs} * interval '1 ms'
        OR (r.message IS NULL AND r.claimed_until < now())
      RETURNING r.claim`;
    if (won.length > 0) return { kind: "mine", claim: { accountId, digest, claim } };
    const [row] = await sql<{ fingerprint: Uint8Array; message: string | null }[]>`
      SELECT r.fingerprint, r.message FROM mail_repeats r JOIN accounts a ON a.number = r.account
      WHERE a.id = ${accountId} AND r.digest = ${digest}`;
    // Another request gave the claim back between the two statements; a retry can claim the key.
    if (row === undefined) return { kind: "pending" };
    if (!Buffer.from(fingerprint).equals(row.fingerprint)) return { kind: "reused" };
    if (row.message === null) return { kind: "pending" };
    return { kind: "message", id: fromUuid("message", row.message) };
  }

  /** Moves an old key that has a message; true while another request is creating its message. */
  async #isPending(old: IdempotencyKey, key: IdempotencyKey): Promise<boolean> {
    const { sql } = this.database;
    await sql`
      UPDATE mail_repeats r SET digest = ${key.digest},
        fingerprint = CASE WHEN r.fingerprint = ${old.fingerprint} THEN ${key.fingerprint}
          ELSE r.fingerprint END
      FROM accounts a WHERE a.id = ${key.accountId} AND r.account = a.number
        AND r.digest = ${old.digest} AND r.message IS NOT NULL
        AND NOT EXISTS (
          SELECT FROM mail_repeats o WHERE o.account = a.number AND o.digest = ${key.digest})`;
    const pending = await sql`
      SELECT FROM mail_repeats r JOIN accounts a ON a.number = r.account
      WHERE a.id = ${key.accountId} AND r.digest = ${old.digest}
        AND r.message IS NULL AND r.claimed_until > now()`;
    return pending.length > 0;
  }

  /**
   * Releases a claim that has no message, so that the next request with the key starts again. A key
   * that has a message stays.
   */
  async release({ accountId, digest, claim }: IdempotencyClaim): Promise<void> {
    await this.database.sql`
      DELETE FROM mail_repeats r USING accounts a
      WHERE a.id = ${accountId} AND r.account = a.number AND r.digest = ${digest}
        AND r.claim = ${claim} AND r.message IS NULL`;
  }

  /** Forgets a key whose message was refused: refusals are not repeated. */
  async forget(
    { accountId, digest }: Pick<IdempotencyKey, "accountId" | "digest">,
    messageId: string,
  ): Promise<void> {
    await this.database.sql`
      DELETE FROM mail_repeats r USING accounts a
      WHERE a.id = ${accountId} AND r.account = a.number AND r.digest = ${digest}
        AND r.message = ${toUuid(messageId)}`;
  }

  /** Deletes expired keys and returns how many. */
  async expire(): Promise<number> {
    const ended = sql`now() - ${MAIL.idempotencyMs} * interval '1 ms'`;
    const gone = lt(mailRepeats.createdAt, ended);
    const { count } = await this.database.db.delete(mailRepeats).where(gone);
    return count;
  }
}
