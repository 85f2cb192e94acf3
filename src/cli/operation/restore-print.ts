// Prints the changes that a restore takes back, and the payments that it books again.

import type { WalletAhead } from "../../accounts/restore-redis.ts";
import { dollars, type NanoUsd, toDecimal } from "../../core/money/money.ts";
import type { RereadPayment } from "../../payments/reread-payments.ts";
import type { LostOperation, LostSpan } from "../../store/backup/lost-span.ts";
import { indented, table, utc } from "../print.ts";

/** The losses as JSON; amounts are text, because they are sums without a bound. */
export function lostJson(lost: LostSpan, ahead: readonly WalletAhead[]): Record<string, unknown> {
  return {
    accounts: lost.accounts,
    keys: lost.keys,
    revoked_keys: lost.revokedKeys,
    states: lost.states,
    operations: lost.operations.map((one) => ({
      ...one,
      amount: undefined,
      ...operationAmount(one),
    })),
    charged_usd: toDecimal(lost.charged as NanoUsd),
    wallets_ahead: ahead.map(({ account, operations, paid, free, lost: known }) => ({
      account,
      operations,
      paid_usd: toDecimal(paid as NanoUsd),
      free_usd: toDecimal(free as NanoUsd),
      lost: known.map((one) => ({
        kind: one.kind,
        amount_usd: toDecimal((one.paid + one.free) as NanoUsd),
        at: new Date(one.atMs),
      })),
    })),
  };
}

function operationAmount({ amount }: LostOperation): { readonly amount_usd: string } {
  return { amount_usd: toDecimal(amount as NanoUsd) };
}

/** The losses for people. Work that must be done again comes first. */
export function lostText(lost: LostSpan, ahead: readonly WalletAhead[]): string {
  const byHand = lost.operations.filter(({ provider }) => provider === null || isManual(provider));
  const paid = lost.operations.filter(({ provider }) => provider !== null && !isManual(provider));
  const parts = [
    section("Book these again by hand", byHand.map(operationRow)),
    section("Booked again from the payment provider", paid.map(operationRow)),
    section(
      "Accounts that will be gone",
      lost.accounts.map(({ id, surface, email, at }) => [id, surface, email ?? "", utc(at)]),
    ),
    section(
      "Keys that will stop working",
      lost.keys.map(({ id, account, name }) => [id, account, name]),
    ),
    section(
      "Keys that will be revoked again",
      lost.revokedKeys.map(({ id, account, name }) => [id, account, name]),
    ),
    section(
      "Accounts whose state goes back: set it again if need be",
      lost.states.map(({ account, now, then }) => [account, `${now} -> ${then}`]),
    ),
    section("Wallets of Redis that have operations which Postgres lacks", ahead.map(walletRow)),
    ...(lost.charged === 0n ? [] : [`Charges of calls given back: ${dollars(lost.charged)}`]),
  ].filter((part) => part !== null);
  return parts.length === 0 ? "Nothing is known to be lost." : parts.join("\n\n");
}

function isManual(provider: string): boolean {
  return provider === "manual";
}

function operationRow(one: LostOperation): string[] {
  const about = [one.reason, one.reference].filter((text) => text !== null).join(", ");
  return [
    one.account,
    `${one.kind} of ${one.balance} balance`,
    dollars(one.amount),
    one.actor,
    about,
    utc(one.at),
  ];
}

function walletRow({ account, operations, paid, free, lost }: WalletAhead): string[] {
  const what = operations === null ? "unknown account" : `${operations} operations more`;
  const known = lost.map((one) => {
    return `${one.kind} of ${dollars(one.paid + one.free)} at ${utc(new Date(one.atMs))}`;
  });
  return [account, what, `${dollars(paid)} paid`, `${dollars(free)} free`, known.join(", ")];
}

function section(title: string, rows: readonly (readonly string[])[]): string | null {
  return rows.length === 0 ? null : `${title}:\n${indented(table(rows))}`;
}

/** The payments that were read again, for people. */
export function rereadText(reread: readonly RereadPayment[]): string | null {
  const words = {
    read: "brought up to date",
    remade: "booked again",
    account_remade: "booked again for an account without keys and people: give it to its holder",
    unknown: "NOT BOOKED: nothing tells whose it is, look it up at the provider",
  } as const;
  return section(
    "Payments of the provider",
    reread.map(({ ref, account, result }) => [ref, account ?? "", words[result]]),
  );
}
