// Plans an import from one-api or new-api. The unit of both is the quota, of which 500,000 are one
// USD unless the option QuotaPerUnit says otherwise.

import { type NanoUsd, toDollars, ZERO } from "../../core/money/money.ts";
import type { ForeignRow } from "../../store/imports/foreign-database.ts";
import type { OneApiTables } from "../../store/imports/one-api-source.ts";
import { oneApiCatalogue } from "./one-api-models.ts";
import {
  ANY_SPENDING,
  allowlistFrom,
  emailFrom,
  foreignText,
  isSet,
  jsonObject,
  NO_LIMITS,
  nameFrom,
  type PlannedAccount,
  type PlannedBudget,
  type PlannedKey,
  type PlanTerms,
  type ProductPlan,
  sharedEmails,
  wholeOf,
  worthOf,
} from "./plan.ts";
import { endDateOf, patternsFrom } from "./planned-limits.ts";

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
  readonly #catalogue: ReturnType<typeof oneApiCatalogue>;
  readonly #modelIds: readonly string[];
  /** The tokens by the id of their user. */
  readonly #tokens: ReadonlyMap<string, readonly ForeignRow[]>;

  constructor(
    readonly tables: OneApiTables,
    readonly terms: PlanTerms,
  ) {
    this.#perUsd = tables.options.get("QuotaPerUnit") ?? QUOTA_PER_USD;
    this.#catalogue = oneApiCatalogue(tables, { ...terms, quotaPerUsd: this.#perUsd });
    this.#modelIds = this.#catalogue.catalogue.models.map(({ id }) => id);
    const tokens = tables.tokens.filter((token) => !isDeleted(token));
    this.#tokens = Map.groupBy(tokens, ({ user_id: user }) => String(user));
  }

  plan(): ProductPlan {
    const { product, users } = this.tables;
    const accounts = users.flatMap((user) => this.#account(user));
    this.#orphans();
    const { catalogue, notes } = this.#catalogue;
    const all = [...this.#notes, ...sharedEmails(accounts), ...this.#groups(), ...notes];
    return { product, accounts, catalogue, endUsers: null, notes: all };
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
      ...ANY_SPENDING,
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
    const budgets = this.#budgets(subject, token);
    if (budgets === "used up") return refuse("its quota is used up");
    const { value: models, notes } = patternsFrom(this.#modelNames(token), this.#modelIds);
    this.#notes.push(...notes.map((note) => `${subject}: ${note}`));
    if (models?.length === 0) return refuse("it may call no model");
    this.#group(subject, token);
    const limits = { ...NO_LIMITS, endsAt: endDateOf(expiresMs), models, budgets };
    const origin = `key:${id}`;
    return [{ origin, name, lastFour, monthlyLimit: null, ipAllowlist, ...limits }];
  }

  /** The rest of a token's quota is its budget of all time. */
  #budgets(subject: string, token: ForeignRow): readonly PlannedBudget[] | "used up" {
    if (isSet(token.unlimited_quota)) return [];
    const quota = wholeOf(token.remain_quota) ?? 0n;
    if (quota <= 0n) return "used up";
    const worth = worthOf(quota, this.#perUsd);
    if (worth === null) {
      this.#notes.push(`${subject}: its quota of ${quota} is too large for a limit; it has none`);
      return [];
    }
    return worth <= 0n ? "used up" : [{ span: "total", amount: worth }];
  }

  /** The models of a token; null for every model. */
  #modelNames(token: ForeignRow): readonly string[] | null {
    const isOneApi = this.tables.product === "one-api";
    if (!isOneApi && !isSet(token.model_limits_enabled)) return null;
    const text = foreignText(isOneApi ? token.models : token.model_limits);
    // A list without a name allows every model in one-api, and none in new-api.
    if (text === null) return isOneApi ? null : [];
    return text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
  }

  #group(subject: string, token: ForeignRow): void {
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
