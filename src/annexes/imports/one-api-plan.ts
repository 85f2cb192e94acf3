// Plans an import from one-api or new-api. Their unit is the quota, of which 500,000 are one USD
// unless the option QuotaPerUnit says otherwise.

import { type NanoUsd, toDollars, ZERO } from "../../core/money/money.ts";
import type { ForeignRow } from "../../store/imports/foreign-database.ts";
import type { OneApiTables } from "../../store/imports/one-api-source.ts";
import { oneApiCatalogue } from "./one-api-models.ts";
import {
  allowlistFrom,
  emailFrom,
  endNote,
  foreignText,
  isSet,
  jsonObject,
  nameFrom,
  type PlannedAccount,
  type PlannedKey,
  type PlanTerms,
  type ProductPlan,
  sharedEmails,
  wholeOf,
  worthOf,
} from "./plan.ts";

const QUOTA_PER_USD = "500000";
const ENABLED = 1n;
const DISABLED = 2n;
const ADMINISTRATOR = 10n;
const NEVER = -1n;
const TOKEN_STATES: Readonly<Record<string, string>> = {
  2: "disabled",
  3: "expired",
  4: "used up",
};

/** Plans an import from these tables. */
export function planOneApi(tables: OneApiTables, terms: PlanTerms): ProductPlan {
  return new OneApiPlan(tables, terms).plan();
}

class OneApiPlan {
  readonly #notes: string[] = [];
  readonly #perUsd: string;
  /** The tokens by the id of their user. */
  readonly #tokens: ReadonlyMap<string, readonly ForeignRow[]>;

  constructor(
    readonly tables: OneApiTables,
    readonly terms: PlanTerms,
  ) {
    this.#perUsd = tables.options.get("QuotaPerUnit") ?? QUOTA_PER_USD;
    const tokens = tables.tokens.filter((token) => !isDeleted(token));
    this.#tokens = Map.groupBy(tokens, ({ user_id: user }) => String(user));
  }

  plan(): ProductPlan {
    const { product, users } = this.tables;
    const accounts = users.flatMap((user) => this.#account(user));
    this.#orphans();
    const { catalogue, notes } = oneApiCatalogue(this.tables, {
      ...this.terms,
      quotaPerUsd: this.#perUsd,
    });
    const all = [...this.#notes, ...sharedEmails(accounts), ...this.#groups(), ...notes];
    return { product, accounts, catalogue, notes: all };
  }

  #account(user: ForeignRow): PlannedAccount[] {
    const id = String(user.id);
    const status = wholeOf(user.status);
    const username = foreignText(user.username);
    const subject = `user ${id} '${username ?? ""}'`;
    const quota = wholeOf(user.quota ?? 0);
    if ((status !== ENABLED && status !== DISABLED) || isDeleted(user)) {
      this.#notes.push(`${subject}: deleted there, with a quota of ${quota ?? 0}; left out`);
      return [];
    }
    if (status === DISABLED) this.#notes.push(`${subject}: disabled there; suspended here`);
    if ((wholeOf(user.role) ?? 0n) >= ADMINISTRATOR) {
      this.#notes.push(`${subject}: an administrator there, a customer like others here`);
    }
    if ((wholeOf(user.aff_quota) ?? 0n) > 0n) {
      this.#notes.push(`${subject}: an invitation bonus of ${user.aff_quota} quota is left out`);
    }
    const { email, problem } = emailFrom(foreignText(user.email));
    if (problem !== null) this.#notes.push(`${subject}: ${problem}`);
    const account = {
      origin: `user:${id}`,
      name: nameFrom(foreignText(user.display_name) ?? username, `user ${id}`),
      email,
      balance: this.#balance(subject, quota),
      suspended: status === DISABLED,
      keys: (this.#tokens.get(id) ?? []).flatMap((token) => this.#key(token)),
    };
    return [account];
  }

  #balance(subject: string, quota: bigint | null): NanoUsd {
    const worth = quota === null ? null : worthOf(quota, this.#perUsd);
    if (quota === null || worth === null) {
      this.#notes.push(`${subject}: a quota of ${quota ?? "no number"} is not credited: too large`);
      return ZERO;
    }
    if (worth >= 0n) return worth;
    this.#notes.push(
      `${subject}: the quota is below zero (${toDollars(worth)}); here the balance is $0.00`,
    );
    return ZERO;
  }

  #key(token: ForeignRow): PlannedKey[] {
    const id = String(token.id);
    const key = foreignText(token.key) ?? "";
    const lastFour = key.slice(-4);
    const name = nameFrom(foreignText(token.name), `token ${id}`);
    const subject = `token ${id} '${name}' (…${lastFour})`;
    const refuse = (why: string) => {
      this.#notes.push(`${subject}: ${why}; no new key`);
      return [];
    };
    const status = String(wholeOf(token.status));
    if (status !== "1") return refuse(`${TOKEN_STATES[status] ?? `of the state ${status}`} there`);
    const expires = wholeOf(token.expired_time) ?? NEVER;
    const expiresMs = expires === NEVER ? Number.POSITIVE_INFINITY : Number(expires) * 1_000;
    if (expiresMs <= this.terms.nowMs) return refuse("expired there");
    const ipAllowlist = allowlistFrom(
      (foreignText(token.allow_ips ?? token.subnet) ?? "").split(/[\n,]/),
    );
    if (ipAllowlist instanceof RangeError) {
      return refuse(`its addresses cannot be kept: ${ipAllowlist.message}`);
    }
    const monthlyLimit = this.#limit(subject, token);
    if (monthlyLimit !== null && monthlyLimit <= 0n) return refuse("its quota is used up");
    this.#notes.push(...endNote(subject, expiresMs));
    this.#restrictions(subject, token);
    return [{ origin: `key:${id}`, name, lastFour, monthlyLimit, ipAllowlist }];
  }

  #limit(subject: string, token: ForeignRow): NanoUsd | null {
    if (isSet(token.unlimited_quota)) return null;
    const quota = wholeOf(token.remain_quota) ?? 0n;
    if (quota <= 0n) return ZERO;
    const worth = worthOf(quota, this.#perUsd);
    if (worth === null) {
      this.#notes.push(`${subject}: its quota of ${quota} is too large for a limit; it has none`);
    } else if (worth > 0n) {
      this.#notes.push(
        `${subject}: ${toDollars(worth)} were left to it in all; here that is its limit each month`,
      );
    }
    return worth;
  }

  #restrictions(subject: string, token: ForeignRow): void {
    const models =
      this.tables.product === "one-api"
        ? foreignText(token.models)
        : isSet(token.model_limits_enabled)
          ? foreignText(token.model_limits)
          : null;
    if (models !== null) {
      this.#notes.push(`${subject}: only for ${models} there; the new key is for every model`);
    }
    const group = foreignText(token.group);
    if (group !== null) {
      this.#notes.push(`${subject}: of the group '${group}' there, which Farebox does not have`);
    }
  }

  #orphans(): void {
    const users = new Set(this.tables.users.map(({ id }) => String(id)));
    for (const [user, tokens] of this.#tokens) {
      if (users.has(user)) continue;
      for (const { id } of tokens) {
        this.#notes.push(`token ${id}: its user ${user} is gone; no new key`);
      }
    }
  }

  /** Groups of users pay a multiple of the prices there; here all users pay the same. */
  #groups(): string[] {
    const ratios = jsonObject(this.tables.options.get("GroupRatio"));
    const count = new Map<string, number>();
    for (const user of this.tables.users) {
      const group = foreignText(user.group) ?? "default";
      if (!isDeleted(user)) count.set(group, (count.get(group) ?? 0) + 1);
    }
    return [...count].flatMap(([group, users]) => {
      const ratio = ratios[group] ?? 1;
      if (ratio === 1) return [];
      return [`group '${group}': its ${users} users paid ${ratio} times the prices; here once`];
    });
  }
}

function isDeleted({ deleted_at: deletedAt }: ForeignRow): boolean {
  return deletedAt !== null && deletedAt !== undefined;
}
