// Rows that operators' pages list, and that only failures of others would make.

import type { Product } from "./product.ts";

/** Gives an account a rule, a key that the rule pauses, and a webhook that takes no events. */
export async function troubleOf(product: Product, account: string): Promise<AsyncDisposable> {
  const { sql } = product.operator.database;
  await sql`
    INSERT INTO burn_rules (account, amount, times, action, minutes)
    SELECT number, 5000000000, 3, 'pause', 30 FROM accounts WHERE id = ${account}`;
  await sql`
    INSERT INTO keys (id, account, digest, name, scopes, ip_allowlist, last_four)
    SELECT 'key_watched', number, 'digest of nothing', 'agent', '{models}', '{}', 'aaaa'
    FROM accounts WHERE id = ${account}`;
  await sql`
    INSERT INTO burn_alarms (account, key, rule, amount, times, action, minutes, spent, threshold,
      at, ends_at)
    SELECT account, number, '1', 5000000000, 3, 'pause', 30, 6400000000, 5000000000, now(),
      now() + interval '30 minutes' FROM keys WHERE id = 'key_watched'`;
  await sql`
    INSERT INTO webhook_receivers (id, account, url, description, events, secret, disabled,
      disabled_at, failing_since, created_at)
    SELECT 'hook_watched', number, 'https://hooks.example/secret-path', '', '{key.burn_rate}',
      'x', 'failing', now(), now(), now() FROM accounts WHERE id = ${account}`;
  await sql`
    WITH event AS (INSERT INTO webhook_events (account, type, data)
      SELECT number, 'key.burn_rate', '{}' FROM accounts WHERE id = ${account} RETURNING id)
    INSERT INTO webhook_deliveries (event, receiver, status, attempts, ended_at, attempted_at,
      http_status, duration_ms, error)
    SELECT event.id, r.number, 'failed', 9, now(), now(), 500, 12, 'It answered 500'
    FROM event, webhook_receivers r WHERE r.id = 'hook_watched'`;
  return {
    async [Symbol.asyncDispose]() {
      // Redis does not know this key, which an audit would find.
      await sql`DELETE FROM burn_alarms`;
      await sql`DELETE FROM keys WHERE id = 'key_watched'`;
    },
  };
}

/** A mail that has failed and can be sent again. */
export async function failedMail({ operator }: Product): Promise<void> {
  await operator.database.sql`
    INSERT INTO outbox (kind, recipient, subject, text, html, status, attempts, created_at,
      ended_at, last_error)
    VALUES ('receipt', 'gone@customer.example', 'Your receipt', 'Text', '<p>HTML</p>', 'failed',
      1, now(), now(), 'rejected address')`;
}

/** An event in each state, a rejected entry, an audit, and a mail in each state. */
export async function queueRows(product: Product, account: string): Promise<void> {
  const { sql } = product.operator.database;
  await failedMail(product);
  await sql`
    INSERT INTO outbox (kind, account, recipient, subject, text, html, status, created_at,
      next_attempt_at)
    SELECT 'low_balance', number, 'ada@customer.example', 'Low', 'Text', '<p>HTML</p>', 'waiting',
      now(), now() + interval '1 day' FROM accounts WHERE id = ${account}`;
  await sql`
    INSERT INTO outbox (kind, recipient, status, attempts, created_at, ended_at)
    VALUES ('security_notice', 'eve@customer.example', 'sent', 1, now(), now())`;
  await sql`
    INSERT INTO provider_events (provider, id, type, object, object_id, status, result, attempts,
      failure, occurred_at, processed_at)
    VALUES
      ('other', 'evt_1', 'checkout.session.completed', 'checkout', 'cs_1', 'processed',
        'succeeded', 1, NULL, now(), now()),
      ('other', 'evt_2', 'customer.deleted', 'customer', 'cus_1', 'processed',
        'customer removed', 1, NULL, now(), now()),
      ('other', 'evt_3', 'charge.updated', 'payment', 'pi_1', 'received', NULL, 2, 'timeout',
        now(), NULL)`;
  await sql`
    INSERT INTO rejected_entries (bucket, epoch, entry, account, seq, reason, content)
    VALUES (17, 1, 4711, ${account}, 12, '23514 ledger_never_negative', '')`;
  const report = JSON.stringify({
    ok: false,
    difference: null,
    differences: [{ account, message: "wallet and ledger differ" }],
    rejected: [],
    accounts: 1_204,
    entries: 812_043,
    open_holds: 3,
  });
  await sql`
    INSERT INTO audit_runs (id, actor, state, done, total, report, created_at, ended_at)
    VALUES ('op_audited', 'ops@example.com', 'ended', 1204, 1204, ${report}::text::jsonb,
      now(), now())`;
}

/**
 * A dispute about the newest payment of an account, which a top-up made. It ends with the test,
 * because the next payment would suspend the account.
 */
export async function disputeOf({ operator }: Product, account: string): Promise<AsyncDisposable> {
  const { sql } = operator.database;
  await sql`
    WITH paid AS (UPDATE payments SET dispute = 'open', disputed = amount
      WHERE number = (SELECT max(p.number) FROM payments p JOIN accounts a ON a.number = p.account
        WHERE a.id = ${account}) RETURNING number, account, amount)
    INSERT INTO top_ups (id, account, provider, kind, amount, status, payment, concern, created_at)
    SELECT 'topup_disputed', account, 'other', 'checkout', amount, 'succeeded', number,
      'dispute open $25, fraud warning', now() FROM paid`;
  return {
    async [Symbol.asyncDispose]() {
      await sql`DELETE FROM top_ups WHERE id = 'topup_disputed'`;
      await sql`UPDATE payments SET dispute = NULL, disputed = 0 WHERE dispute = 'open'`;
    },
  };
}
