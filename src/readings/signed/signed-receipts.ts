// Issues signed receipts of calls, from the log and the ledger (D-782).

import project from "../../../package.json";
import { serviceOfScope } from "../../core/access/services.ts";
import type { Clock } from "../../core/clock.ts";
import { HOUR_MS } from "../../core/durations.ts";
import { ApiError } from "../../core/errors.ts";
import { isId, timeOfId, toUuid } from "../../core/ids.ts";
import { type NanoUsd, nano, toDecimal } from "../../core/money/money.ts";
import { partsOf } from "../../core/money/usage.ts";
import { type ReceiptClaims, signReceipt, verifyReceipt } from "../../core/receipts/receipt-jws.ts";
import { type PublicJwk, publicJwk, type ReceiptKey } from "../../core/receipts/receipt-keys.ts";
import { type StatementClaims, signStatement } from "../../core/receipts/statement-jws.ts";
import { accountNumber } from "../../store/accounts/account-number.ts";
import { readKeyNames } from "../../store/accounts/key-names.ts";
import type { Database } from "../../store/servers/database.ts";
import {
  type IssuedReceipt,
  isBeforeLog,
  keepReceipt,
  lastReceipt,
  readReceiptKeys,
  wasCharged,
} from "../../store/usage/receipts.ts";
import { type CallBooking, findCall, type LoggedCall } from "../../store/usage/request-log.ts";

/** A mail may wait for two days before its call is final; calls of other services end sooner. */
const PENDING_MS = 49 * HOUR_MS;
const RETRY_SECONDS = 2;

/** The issuer of signed documents: the origin of the service, or the name of the program. */
export function issuerOf(origin: string | null | undefined): string {
  return origin ?? project.name;
}

export interface ReceiptDeps {
  readonly database: Database;
  readonly clock: Pick<Clock, "now">;
  readonly key: ReceiptKey;
  /** The result of `issuerOf`. */
  readonly issuer: string;
}

/** The call whose receipt is asked for, and the asker. */
export interface ReceiptQuestion {
  readonly account: string;
  /** The key that asks, which reads its own calls; null for the account's people. */
  readonly keyId: string | null;
  readonly request: string;
}

export interface SignedReceipt extends IssuedReceipt {
  readonly claims: ReceiptClaims;
}

/** A public key, with the time of its retirement. */
export type ListedKey = PublicJwk & { readonly retired_at?: string };

export class SignedReceipts {
  readonly #deps: ReceiptDeps;

  constructor(deps: ReceiptDeps) {
    this.#deps = deps;
  }

  /** Every public key there ever was (RFC 7517). */
  async keys(): Promise<ListedKey[]> {
    const stored = await readReceiptKeys(this.#deps.database);
    return stored.map(({ x, retiredAt }) => ({
      ...publicJwk(x),
      ...(retiredAt !== null && { retired_at: retiredAt.toISOString() }),
    }));
  }

  /**
   * The last receipt of a call. A receipt is issued at the first request for it and has the same
   * bytes after that; if the call was corrected since then, a further receipt names it.
   * @throws ApiError `receipt_pending`, `receipt_not_found` or `receipt_gone`
   */
  async of(question: ReceiptQuestion): Promise<SignedReceipt> {
    const { account, keyId, request } = question;
    const { database } = this.#deps;
    if (!isId("request", request)) throw notFound(request);
    const uuid = toUuid(request);
    const number = await accountNumber(database.db, account);
    // Before the log: a receipt that is read later could be of a later state than the log's.
    const last = await lastReceipt(database, number, uuid);
    const found = await findCall(database, number, uuid);
    if (found === null) return await this.#withoutLog({ number, uuid, request, keyId, last });
    const keys = await readKeyNames(database, number);
    const key = keys.get(found.call.key)?.id ?? "";
    if (keyId !== null && key !== keyId) throw notFound(request);
    const receipt = receiptOf(found, key);
    const known = last === null ? null : await this.#read(last);
    if (known !== null && isSame(known.claims.receipt, receipt)) return known;
    const claims: ReceiptClaims = {
      iss: this.#deps.issuer,
      sub: account,
      jti: request,
      iat: Math.floor(this.#deps.clock.now() / 1_000),
      receipt: { number: (last?.number ?? 0) + 1, corrects: last?.number ?? null, ...receipt },
    };
    const jws = await signReceipt(this.#deps.key, claims);
    const of = { account: number, request: uuid };
    const kept = await this.#read(
      await keepReceipt(database, of, { number: claims.receipt.number, jws }),
    );
    // Another process was faster, and one of the two has read an earlier state of the call.
    return isSame(kept.claims.receipt, receipt) ? kept : await this.of(question);
  }

  /** The statement of an account, in compact form. */
  async signStatement(account: string, statement: StatementClaims["statement"]): Promise<string> {
    const { key, issuer: iss, clock } = this.#deps;
    const iat = Math.floor(clock.now() / 1_000);
    return await signStatement(key, { iss, sub: account, iat, statement });
  }

  async #withoutLog({ number, uuid, request, keyId, last }: Unlogged): Promise<SignedReceipt> {
    if (last !== null) {
      const known = await this.#read(last);
      if (keyId !== null && known.claims.receipt.key !== keyId) throw notFound(request);
      return known;
    }
    const { database, clock } = this.#deps;
    const at = timeOfId(request);
    const age = clock.now() - at;
    const isPending = age >= 0 && age <= PENDING_MS;
    // The ledger has no entry of a refused or free call. For such a call only the months of the log
    // show that its row was dropped.
    const isDropped = age > PENDING_MS && (await isBeforeLog(database, at));
    if (isDropped || (await wasCharged(database, number, uuid))) {
      throw new ApiError("receipt_gone", `The log of request ${request} is not kept any more`);
    }
    if (!isPending) throw notFound(request);
    throw new ApiError("receipt_pending", `Request ${request} has no final record yet`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  async #read(issued: IssuedReceipt): Promise<SignedReceipt> {
    return { ...issued, claims: await verifyReceipt(issued.jws, await this.keys()) };
  }
}

interface Unlogged {
  readonly number: number;
  readonly uuid: string;
  readonly request: string;
  readonly keyId: string | null;
  readonly last: IssuedReceipt | null;
}

function notFound(request: string): ApiError {
  return new ApiError("receipt_not_found", `This key has made no request ${request}`);
}

type Receipt = Omit<ReceiptClaims["receipt"], "number" | "corrects">;

interface FoundCall {
  readonly call: LoggedCall;
  readonly booking: CallBooking | null;
}

function receiptOf({ call, booking }: FoundCall, key: string): Receipt {
  return {
    at: call.at.toISOString(),
    key,
    endpoint: call.endpoint,
    service: serviceOfScope(call.service),
    model: call.model,
    asked_model: call.askedModel ?? call.model,
    price_version: call.priceVersion,
    ...(call.tier !== null && { tier: call.tier }),
    units: unitsOf(call),
    usage_source: call.usageSource ?? "provider",
    hold_usd: call.held === null ? null : toDecimal(nano(call.held)),
    cost_usd: toDecimal(nano(call.cost)),
    free_usd: toDecimal(nano(booking?.free ?? call.freeCost)),
    balance_after_usd: booking === null ? null : toDecimal(booking.after as NanoUsd),
    status: call.status,
    error_code: call.errorCode,
    ...(call.stopReason !== null && { stopped_by: call.stopReason }),
  };
}

/**
 * The tokens by part and the calls of the provider's tools; for a service without tokens, the
 * requests.
 */
function unitsOf(call: LoggedCall): Readonly<Record<string, string>> {
  const { more = {}, fees = {} } = call.usageParts;
  const tools = Object.entries(fees).flatMap(([fee, { calls, queries }]) => [
    [`${fee}_calls`, calls] as const,
    ...(queries === calls ? [] : [[`${fee}_queries`, queries] as const]),
  ]);
  const parts = [...Object.entries(partsOf({ ...call, more })), ...tools];
  const counts = parts.length === 0 ? [["requests", call.requests] as const] : parts;
  return Object.fromEntries(counts.map(([part, count]) => [part, String(count)]));
}

/** True if each claim of an issued receipt still holds: a claim that came later corrects none. */
function isSame(
  { number: _, corrects: __, ...issued }: ReceiptClaims["receipt"],
  now: Receipt,
): boolean {
  const claims = Object.keys(issued) as (keyof typeof issued)[];
  return claims.every((claim) => JSON.stringify(issued[claim]) === JSON.stringify(now[claim]));
}
