// Idempotency keys (SPEC 4.6.2): who comes first makes the message, everybody else gets its result.

import { lt, sql } from "drizzle-orm";
import { fromUuid, toUuid } from "../core/ids.ts";
import { MAIL } from "../core/limits.ts";
import type { Database } from "./database.ts";
import { mailRepeats } from "./mail-schema.ts";

/** A key of one account; two requests with it must have the same fingerprint. */
export interface RepeatKey {
  readonly accountId: string;
  /** A keyed digest of the key: keys may tell who a message is for. */
  readonly digest: Uint8Array;
  /** A keyed digest of the request's body. */
  readonly fingerprint: Uint8Array;
}

/** The right to make the message of a key. */
export interface RepeatClaim {
  readonly accountId: string;
  readonly digest: Uint8Array;
  readonly claim: string;
}

export type RepeatState =
  | { readonly kind: "mine"; readonly claim: RepeatClaim }
  /** Another request is making the message now. */
  | { readonly kind: "pending" }
  | { readonly kind: "message"; readonly id: string }
  /** The key came with another body before. */
  | { readonly kind: "reused" };

/** So long a request may take to make its message; then its process is believed dead. */
const CLAIM_MS = 15_000;

export class MailRepeats {
  constructor(readonly database: Database) {}

  /**
   * Claims the key, or says what it has led to. `claim` is a new UUID. `earlier` is the same key
   * under secrets that are being replaced: what it led to moves to the current one.
   */
  async begin(
    key: RepeatKey,
    claim: string,
    earlier: readonly RepeatKey[] = [],
  ): Promise<RepeatState> {
    const { sql } = this.database;
    for (const before of earlier) if (await this.#isTaken(before, key)) return { kind: "pending" };
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
    // Given back between the two statements: the next look claims it.
    if (row === undefined) return { kind: "pending" };
    if (!Buffer.from(fingerprint).equals(row.fingerprint)) return { kind: "reused" };
    if (row.message === null) return { kind: "pending" };
    return { kind: "message", id: fromUuid("message", row.message) };
  }

  /** Moves a key that led to a message; true while another request is making its message. */
  async #isTaken(before: RepeatKey, key: RepeatKey): Promise<boolean> {
    const { sql } = this.database;
    await sql`
      UPDATE mail_repeats r SET digest = ${key.digest},
        fingerprint = CASE WHEN r.fingerprint = ${before.fingerprint} THEN ${key.fingerprint}
          ELSE r.fingerprint END
      FROM accounts a WHERE a.id = ${key.accountId} AND r.account = a.number
        AND r.digest = ${before.digest} AND r.message IS NOT NULL
        AND NOT EXISTS (
          SELECT FROM mail_repeats o WHERE o.account = a.number AND o.digest = ${key.digest})`;
    const taken = await sql`
      SELECT FROM mail_repeats r JOIN accounts a ON a.number = r.account
      WHERE a.id = ${key.accountId} AND r.digest = ${before.digest}
        AND r.message IS NULL AND r.claimed_until > now()`;
    return taken.length > 0;
  }

  /**
   * Gives a claim back that led to no message: the next request with the key begins anew. One that
   * did lead to a message stays.
   */
  async giveBack({ accountId, digest, claim }: RepeatClaim): Promise<void> {
    await this.database.sql`
      DELETE FROM mail_repeats r USING accounts a
      WHERE a.id = ${accountId} AND r.account = a.number AND r.digest = ${digest}
        AND r.claim = ${claim} AND r.message IS NULL`;
  }

  /** Forgets that a key led to this message: it was refused, and refusals are not kept. */
  async forget(
    { accountId, digest }: Pick<RepeatKey, "accountId" | "digest">,
    messageId: string,
  ): Promise<void> {
    await this.database.sql`
      DELETE FROM mail_repeats r USING accounts a
      WHERE a.id = ${accountId} AND r.account = a.number AND r.digest = ${digest}
        AND r.message = ${toUuid(messageId)}`;
  }

  /** Deletes what is kept no longer. Returns how many keys that were. */
  async expire(): Promise<number> {
    const ended = sql`now() - ${MAIL.idempotencyMs} * interval '1 ms'`;
    const gone = lt(mailRepeats.createdAt, ended);
    const { count } = await this.database.db.delete(mailRepeats).where(gone);
    return count;
  }
}
