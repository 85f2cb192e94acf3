import { describe, expect, test } from "bun:test";
import { shared } from "../../support/shared.ts";
import {
  busyAccountAlone,
  damageLedger,
  found,
  foundAtOnce,
  owingAccount,
} from "../../support/stores/audit-lab.ts";
import { openWorld } from "../../support/stores/world.ts";

const world = await shared(openWorld());

/** A reversal of the account's one payment that belongs to no refund. */
function reversalOf(account: number, amount: number): string {
  return `INSERT INTO operations (account, number, kind, balance, amount, payment)
    SELECT ${account}, 3, 'reversal', 'paid', ${amount}, number FROM payments
    WHERE account = ${account}`;
}

describe("damage in the ledger", () => {
  const kinds: readonly (readonly [name: string, sql: (a: number) => string, words: RegExp])[] = [
    [
      "a missing entry",
      (a) => `DELETE FROM ledger_entries WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the entries are numbered without gaps: expected 3, found 4/,
    ],
    [
      "a wrong paid balance",
      (a) =>
        `UPDATE ledger_entries SET paid_after = paid_after + 1 WHERE account = ${a} AND seq = 4`,
      /ledger entry 4: the paid balance after it: expected \$19\.25 \(.*\), found \$19\.250000001/,
    ],
    [
      "a wrong delta",
      (a) =>
        `UPDATE ledger_entries SET free_delta = free_delta - 1 WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the free balance after it/,
    ],
    [
      "a balance below zero",
      (a) => `UPDATE ledger_entries SET paid_delta = paid_delta - 30000000000,
        paid_after = paid_after - 30000000000 WHERE account = ${a} AND seq = 5`,
      /ledger entry 5: the paid balance after it: expected \$0 or more, found -\$10\.75/,
    ],
    [
      "an entry that is not its operation",
      (a) => `UPDATE operations SET amount = amount + 1 WHERE account = ${a} AND balance = 'free'`,
      /ledger entry 1: what it gives by operation 1: expected \$0 paid and \$5\.000000001 free/,
    ],
    [
      "an operation that was never applied",
      (a) => `INSERT INTO operations (account, number, kind, balance, amount, created_at)
        VALUES (${a}, 3, 'adjustment', 'paid', -7, now() - interval '1 minute')`,
      /operation 3 \(adjustment, -\$0\.000000007\): expected applied, found not applied after 6/,
    ],
    [
      "a gap in the operations",
      (a) => `UPDATE operations SET number = 4 WHERE account = ${a} AND number = 2`,
      /operations are numbered without gaps: expected 2, found 4/,
    ],
    [
      "operations applied out of order",
      (a) => `UPDATE ledger_entries SET operation = 9 WHERE account = ${a} AND seq = 1`,
      /ledger entry 1: operations in order: expected operation 1, found operation 9/,
    ],
    [
      "a charge that names an operation",
      (a) => `UPDATE ledger_entries SET operation = 3 WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: a charge applies no operation: expected none, found operation 3/,
    ],
    [
      "an entry of another kind than its operation",
      (a) => `UPDATE operations SET kind = 'bonus' WHERE account = ${a} AND number = 2`,
      /ledger entry 2: the kind of operation 2: expected bonus, found credit/,
    ],
    [
      "a debt that nothing made",
      (a) => `UPDATE ledger_entries SET owed_after = 1 WHERE account = ${a} AND seq = 4`,
      /ledger entry 4: what is owed after it: expected \$0, found \$0\.000000001/,
    ],
    [
      "a repayment of nothing owed",
      (a) => `UPDATE ledger_entries SET kind = 'repayment' WHERE account = ${a} AND seq = 5`,
      /ledger entry 5: a repayment pays what is owed: expected a part of \$0 to \$0/,
    ],
    [
      "a charge that gives money",
      (a) => `UPDATE ledger_entries SET paid_delta = 5, paid_after = 20000000005
        WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: a charge takes money/,
    ],
    [
      "a charge without a request",
      (a) => `UPDATE ledger_entries SET request = NULL WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the call charged: expected a request, found none/,
    ],
    [
      "a charge for another account's key",
      (a) => `UPDATE ledger_entries SET key = (SELECT min(number) FROM keys WHERE account <> ${a})
        WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the key charged: expected a key of this account, found none/,
    ],
    [
      "a charge in another month",
      (a) => `UPDATE ledger_entries SET month = 202001 WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the month charged: expected 20\d{4}, found 202001/,
    ],
    [
      "an expiry that came too soon",
      (a) => `UPDATE ledger_entries SET kind = 'free_expired', paid_delta = 0, free_delta = -1,
        request = NULL, key = NULL, month = NULL WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: when free credit ended: expected .*Z or later/,
    ],
    [
      "a wrong sum of a month",
      (a) => `UPDATE month_spend SET spent = spent + 2 WHERE account = ${a}`,
      /month_spend of 20\d{4} and key_\w+: expected \$5\.750000001, found \$5\.750000003/,
    ],
    [
      "a missing sum of a month",
      (a) => `DELETE FROM month_spend WHERE account = ${a}`,
      /month_spend of 20\d{4} and key_\w+: expected \$5\.750000001, found \$0/,
    ],
    [
      "a logged cost that was not charged",
      (a) => `UPDATE request_log SET cost = cost + 1 WHERE account = ${a} AND cost = 0`,
      /the request log's cost of req_\w+: expected \$0 in 1 row, found \$0\.000000001 in 1 row/,
    ],
    [
      "a logged cost that is not the charge",
      (a) => `UPDATE request_log SET cost = cost - 1 WHERE account = ${a} AND cost > 1000000000`,
      /ledger entry 3: the request log's cost of req_\w+: .*\$4\.5 in 1 row, found \$4\.4999/,
    ],
    [
      "a charge that was not logged",
      (a) => `DELETE FROM request_log WHERE account = ${a} AND cost = 4500000000`,
      /ledger entry 3: the request log's cost of req_\w+: expected \$4\.5 in 1 row, found no row/,
    ],
    [
      "a call logged twice",
      (a) => `INSERT INTO request_log (at, account, key, request, cost, latency_ms, prompt_tokens,
          cached_tokens, completion_tokens, requests, status, endpoint, service)
        SELECT at + interval '1 ms', account, key, request, 0, latency_ms, prompt_tokens,
          cached_tokens, completion_tokens, requests, status, endpoint, service
        FROM request_log WHERE account = ${a} AND cost = 4500000000`,
      /the request log's cost of req_\w+: expected \$4\.5 in 1 row, found \$4\.5 in 2 row/,
    ],
    [
      "a charge above its hold",
      (a) => `UPDATE request_log SET held = cost - 1 WHERE account = ${a} AND cost = 4500000000`,
      /ledger entry 3: the charge of req_\w+: expected at most \$4\.499999999, .*, found \$4\.5/,
    ],
    [
      "free credit that paid for what is no chat",
      (a) => `UPDATE request_log SET service = 'maps' WHERE account = ${a} AND cost = 4500000000`,
      /the free credit that paid for req_\w+, which is no chat: expected \$0, found \$4\.5/,
    ],
    [
      "a sum of the log that is not its cost",
      (a) => `UPDATE usage_rollups SET cost = cost + 1 WHERE account = ${a} AND minutes = 15
        AND cost > 0`,
      /the sums of the request log .*: expected \$5\.750000001 .*, found \$5\.750000002 charged/,
    ],
    [
      "an hour of usage that is missing",
      (a) => `DELETE FROM usage_rollups WHERE account = ${a} AND minutes = 60`,
      /the sums of the request log .*: expected \$5\.750000001 charged, .*, found \$0 charged/,
    ],
    [
      "a payment of less than its credit",
      (a) => `UPDATE payments SET amount = amount - 1 WHERE account = ${a}`,
      /credit of payment pay_\w+ after operation 2: expected \$0 to \$19\.999999999, found \$20/,
    ],
    [
      "a payment without a credit",
      (a) => `INSERT INTO payments (id, account, amount, paid_at)
        VALUES ('pay_lost${a}', ${a}, 9, now())`,
      /the credit of payment pay_lost\d+ \(\$0\.000000009\): expected .*, found no operation/,
    ],
    [
      "a payment that failed and was credited",
      (a) => `UPDATE payments SET status = 'failed' WHERE account = ${a}`,
      /the credit of payment pay_\w+ \(failed\): expected \$0, found \$20 by operations 2/,
    ],
    [
      "a bonus that was never given",
      (a) => `UPDATE payments SET bonus = 3 WHERE account = ${a}`,
      /\(\$20, \$0\.000000003 bonus\): expected \$20\.000000003, found \$20 by operations 2/,
    ],
    [
      "a refund without its reversal",
      (a) => `UPDATE payments SET refunded = 1000000000 WHERE account = ${a}`,
      /\(\$20, \$1 refunded\): expected \$19, found \$20 by operations 2/,
    ],
    [
      "a reversal without its refund",
      (a) => reversalOf(a, -1_000_000_000),
      /of payment pay_\w+ \(\$20\): expected \$20, found \$19 by operations 2, 3/,
    ],
    [
      "a restore of what was never reversed",
      (a) => reversalOf(a, 5).replace("reversal", "restore"),
      /after operation 3: expected \$0 to \$20, found \$20\.000000005/,
    ],
    [
      "a dispute that took nothing",
      (a) => `UPDATE payments SET dispute = 'open', disputed = amount WHERE account = ${a}`,
      /\(\$20, \$20 dispute open\): expected \$0, found \$20 by operations 2/,
    ],
    [
      "a dispute that was won and holds something",
      (a) => `UPDATE payments SET dispute = 'won', disputed = 5 WHERE account = ${a}`,
      /the disputed amount of payment pay_\w+, which .*: expected \$0, found \$0\.000000005/,
    ],
    [
      "an account that calls on while a dispute is open",
      (a) => `${reversalOf(a, -20_000_000_000)};
        UPDATE payments SET dispute = 'open', disputed = amount WHERE account = ${a}`,
      /the account's state while the dispute of pay_\w+ is open: expected suspended, found active/,
    ],
    [
      "an account suspended by no dispute",
      (a) =>
        `UPDATE accounts SET state = 'suspended', state_reason = 'dispute' WHERE number = ${a}`,
      /a dispute that suspends the account: expected an open one, found none/,
    ],
    [
      "a paid credit that nobody paid",
      (a) => `UPDATE operations SET payment = NULL WHERE account = ${a} AND balance = 'paid'`,
      /the payment of operation 2: expected one of this account, found \$20 that nobody paid/,
    ],
    [
      "a free credit of a payment",
      (a) => `UPDATE operations SET payment = (SELECT number FROM payments WHERE account = ${a})
        WHERE account = ${a} AND balance = 'free'`,
      /the payment of operation 1: expected none, for a credit of free balance, found pay_/,
    ],
  ];

  test.each(kinds.map((kind) => [...kind]))("%s is named", async (_, sql, words) => {
    const account = await busyAccountAlone(world);
    expect(await found(world, account)).toBe("");
    await damageLedger(world, account, sql as (a: number) => string);
    expect(await found(world, account)).toMatch(words as RegExp);
    expect(await found(world, account)).toStartWith(account.row.id);
  });
});

describe("damage in the ledger of an account that owes", () => {
  const kinds: readonly (readonly [name: string, sql: (a: number) => string, words: RegExp])[] = [
    [
      "a reversal that took less than is owed for",
      (a) => `UPDATE ledger_entries SET paid_delta = paid_delta + 1, paid_after = paid_after + 1
        WHERE account = ${a} AND seq = 6`,
      /ledger entry 6: what is owed after operation 3: expected \$2\.750000002, found \$2\.75/,
    ],
    [
      "a debt that is too small",
      (a) =>
        `UPDATE ledger_entries SET owed_after = owed_after - 1 WHERE account = ${a} AND seq = 6`,
      /ledger entry 6: what is owed after operation 3: expected \$2\.750000001, found \$2\.75/,
    ],
    [
      "a reversal of free credit",
      (a) => `UPDATE ledger_entries SET free_delta = -1, free_after = -1
        WHERE account = ${a} AND seq = 6`,
      /ledger entry 6: what it takes by operation 3: expected \$0 to \$19\.2\d+ paid and no free/,
    ],
    [
      "a credit that pays nothing of what is owed",
      (a) => `INSERT INTO operations (account, number, kind, balance, amount, booked)
          VALUES (${a}, 4, 'adjustment', 'paid', 5000000000, true);
        INSERT INTO ledger_entries (account, seq, kind, paid_delta, free_delta, paid_after,
            free_after, owed_after, operation, at)
          SELECT ${a}, 7, 'adjustment', 5000000000, 0, paid_after + 5000000000, free_after,
            owed_after, 4, now() FROM ledger_entries WHERE account = ${a} AND seq = 6`,
      /ledger entry 8: the repayment that is due: expected \$2\.750000001, found none/,
    ],
  ];

  test.each(kinds.map((kind) => [...kind]))("%s is named", async (_, sql, words) => {
    const account = await owingAccount(world);
    await world.flush();
    expect(await found(world, account)).toBe("");
    await damageLedger(world, account, sql as (a: number) => string);
    expect(await foundAtOnce(world, account)).toMatch(words as RegExp);
  });
});
