// Plans an import from LiteLLM's proxy. A budget there is an upper limit, and spending is counted
// up to it; the unspent part of a budget that does not renew becomes a balance.

import type { ModelPatterns } from "../../core/access/key-limits.ts";
import { type NanoUsd, subtract, toDollars, ZERO } from "../../core/money/money.ts";
import { jsonOrNull, objectOrEmpty } from "../../core/text/json.ts";
import type { ForeignRow } from "../../store/imports/foreign-database.ts";
import type { LiteLlmTables } from "../../store/imports/litellm-source.ts";
import { planEndUsers } from "./litellm-end-users.ts";
import { liteLlmCatalogue } from "./litellm-models.ts";
import type { Unseal } from "./litellm-secrets.ts";
import {
  ANY_SPENDING,
  emailFrom,
  foreignText,
  foreignUsd,
  isSet,
  nameFrom,
  type PlannedAccount,
  type PlannedBudget,
  type PlannedKey,
  type PlannedSpending,
  type PlanTerms,
  type ProductPlan,
  sharedEmails,
} from "./plan.ts";
import {
  commonModels,
  endDateOf,
  keyTagsFrom,
  patternsFrom,
  rateFrom,
  smallestOfSpans,
  spanOf,
} from "./planned-limits.ts";

/** LiteLLM's dashboard makes itself a key for each sign-in. */
const DASHBOARD_TEAM = "litellm-dashboard";
const ALL_MODELS = new Set(["all-proxy-models", "all-team-models"]);
/** This name stands for no model, beside others or alone. */
const NO_MODELS = "no-default-models";
const SEVERAL_PERIODS = "budgets for several periods";
const RATES = ["rpm_limit", "tpm_limit"] as const;
/** Limits that a key may have from a shared budget, beside the budget itself. */
const SHARED = [...RATES, "max_parallel_requests", "model_max_budget", "budget_limits"] as const;

/** The terms of a plan that only LiteLLM's database needs. */
interface LiteLlmTerms extends PlanTerms {
  readonly unseal: Unseal | null;
  /** The origin of the account that the end users belong to; null for the only one. */
  readonly endUsersOf: string | null;
}

/** Plans an import from these tables. */
export function planLiteLlm(tables: LiteLlmTables, terms: LiteLlmTerms): ProductPlan {
  return new LiteLlmPlan(tables, terms).plan();
}

class LiteLlmPlan {
  readonly #notes: string[] = [];
  readonly #keys = new Map<string, PlannedKey[]>();
  readonly #catalogue: ReturnType<typeof liteLlmCatalogue>;
  readonly #modelIds: readonly string[];
  readonly #teams: ReadonlyMap<unknown, ForeignRow>;
  readonly #users: ReadonlyMap<unknown, ForeignRow>;

  constructor(
    readonly tables: LiteLlmTables,
    readonly terms: LiteLlmTerms,
  ) {
    this.#catalogue = liteLlmCatalogue(tables.models, terms, terms.unseal);
    this.#modelIds = this.#catalogue.catalogue.models.map(({ id }) => id);
    this.#teams = new Map(tables.teams.map((team) => [team.team_id, team]));
    this.#users = new Map(tables.users.map((user) => [user.user_id, user]));
  }

  plan(): ProductPlan {
    const { teams, users } = this.tables;
    const alone = this.tables.keys.flatMap((key) => this.#placeKey(key));
    const accounts = [
      ...teams.map((team) => this.#team(team)),
      ...users.flatMap((user) => this.#user(user)),
      ...alone,
    ];
    this.#others();
    const { catalogue, notes } = this.#catalogue;
    const endUsers = planEndUsers(this.tables, accounts, this.terms.endUsersOf);
    const all = [...this.#notes, ...endUsers.notes, ...sharedEmails(accounts), ...notes];
    return { product: "LiteLLM", accounts, catalogue, endUsers: endUsers.value, notes: all };
  }

  #team(team: ForeignRow): PlannedAccount {
    const id = String(team.team_id);
    const name = nameFrom(foreignText(team.team_alias), `team ${id}`);
    const subject = `team ${id} '${name}'`;
    const suspended = isSet(team.blocked);
    if (suspended) this.#notes.push(`${subject}: blocked there; suspended here`);
    const members = this.tables.memberships.filter(({ team_id: of }) => String(of) === id);
    if (members.length > 0) {
      this.#notes.push(
        `${subject}: its ${members.length} members are not carried over: invite them`,
      );
    }
    this.#ownerLimits(subject, team);
    const origin = `team:${id}`;
    const keys = this.#keys.get(origin) ?? [];
    const balance = this.#balance(subject, team);
    const spending = this.#accountSpending(subject, team);
    return { origin, name, email: null, balance, suspended, ...spending, keys };
  }

  #user(user: ForeignRow): PlannedAccount[] {
    const id = String(user.user_id);
    const { email, problem } = emailFrom(foreignText(user.user_email));
    const name = nameFrom(
      foreignText(user.user_alias) ?? foreignText(user.user_email),
      `user ${id}`,
    );
    const subject = `user ${id} '${name}'`;
    if (problem !== null) this.#notes.push(`${subject}: ${problem}`);
    const origin = `user:${id}`;
    const keys = this.#keys.get(origin) ?? [];
    if (keys.length === 0 && (user.max_budget ?? null) === null) {
      this.#notes.push(`${subject}: no key and no budget of its own; left out`);
      return [];
    }
    this.#ownerLimits(subject, user);
    const balance = this.#balance(subject, user);
    const spending = this.#accountSpending(subject, user);
    return [{ origin, name, email, balance, suspended: false, ...spending, keys }];
  }

  /** Gives a key to its team or its user; a key without either pays for itself. */
  #placeKey(key: ForeignRow): PlannedAccount[] {
    if (key.team_id === DASHBOARD_TEAM) return [];
    const subject = subjectOf(key);
    const owner = this.#ownerOf(key);
    const planned = this.#key(subject, this.#withShared(key), owner?.row ?? null);
    if (planned === null) return [];
    if (owner !== null) {
      this.#keys.set(owner.origin, [...(this.#keys.get(owner.origin) ?? []), planned]);
      return [];
    }
    const balance = this.#balance(subject, this.#budgetOf(key));
    const origin = `owner-of-key:${key.token}`;
    const { name } = planned;
    const known = { origin, name, email: null, balance, suspended: false };
    return [{ ...known, ...ANY_SPENDING, keys: [planned] }];
  }

  #ownerOf(key: ForeignRow): { readonly origin: string; readonly row: ForeignRow } | null {
    const team = this.#teams.get(key.team_id);
    if (team !== undefined) return { origin: `team:${team.team_id}`, row: team };
    const user = this.#users.get(key.user_id);
    return user === undefined ? null : { origin: `user:${user.user_id}`, row: user };
  }

  #key(subject: string, key: ForeignRow, owner: ForeignRow | null): PlannedKey | null {
    const refuse = (why: string) => {
      this.#notes.push(`${subject}: ${why}; no new key`);
      return null;
    };
    if (isSet(key.blocked)) return refuse("blocked there");
    const expiresMs = Number(key.expires ?? Number.POSITIVE_INFINITY);
    if (expiresMs <= this.terms.nowMs) return refuse("expired there");
    const budgets = this.#budgets(subject, key, owner === null);
    if (typeof budgets === "string") return refuse(budgets);
    const models = this.#models(subject, key, owner);
    if (models?.length === 0) return refuse("it may call no model");
    const rates = this.#rates(subject, key);
    if (typeof rates === "string") return refuse(`its ${rates} lets no call through`);
    const losesWindows = windowsOf(key).length < budgetLimitsOf(key).length;
    this.#restrictions(subject, key, losesWindows ? [SEVERAL_PERIODS] : []);
    const name = nameFrom(foreignText(key.key_alias) ?? foreignText(key.key_name), "imported");
    const known = { origin: `key:${key.token}`, name, lastFour: lastFourOf(key), ipAllowlist: [] };
    const tags = this.#tags(subject, key);
    return { ...known, ...budgets, ...rates, endsAt: endDateOf(expiresMs), models, tags };
  }

  /** The tags that LiteLLM puts on each call of a key: its own, and those of its team (D-887). */
  #tags(subject: string, key: ForeignRow): readonly string[] {
    const team = this.#teams.get(key.team_id);
    const words = [...tagsOf(key), ...(team === undefined ? [] : tagsOf(team))];
    const { value, notes } = keyTagsFrom(words);
    this.#notes.push(...notes.map((note) => `${subject}: ${note}`));
    return value;
  }

  /** The models that a key may call there: those of its own list and of its owner's (D-887). */
  #models(subject: string, key: ForeignRow, owner: ForeignRow | null): ModelPatterns {
    const names = commonModels(modelsOf(key), owner === null ? null : modelsOf(owner));
    const { value, notes } = patternsFrom(names, this.#modelIds);
    this.#notes.push(...notes.map((note) => `${subject}: ${note}`));
    return value;
  }

  /** The rates of a key, or the name of one that lets no call through. */
  #rates(subject: string, key: ForeignRow) {
    const values: (number | null)[] = [];
    for (const name of RATES) {
      const { value, notes } = rateFrom(name, key[name]);
      if (value === "nothing") return name;
      this.#notes.push(...notes.map((note) => `${subject}: ${note}`));
      values.push(value);
    }
    const [requestsPerMinute = null, tokensPerMinute = null] = values;
    return { requestsPerMinute, tokensPerMinute };
  }

  /** Returns a key with the limits of the budget that it shares, where it has none of its own. */
  #withShared(key: ForeignRow): ForeignRow {
    const shared = this.tables.budgets.get(String(key.budget_id));
    if (shared === undefined) return key;
    const lacking = SHARED.filter((name) => isNoLimit(key[name]));
    return { ...key, ...Object.fromEntries(lacking.map((name) => [name, shared[name]])) };
  }

  /** Returns the budget of a key: its own, or else the one that it shares. */
  #budgetOf(key: ForeignRow): ForeignRow {
    if ((key.max_budget ?? null) !== null) return key;
    const shared = this.tables.budgets.get(String(key.budget_id));
    return shared === undefined ? key : { ...shared, spend: key.spend };
  }

  /**
   * The budgets of a key by their spans, and the smallest of its months. The rest of a budget
   * without a period is a budget of all time, unless the key pays for itself: then it is the
   * balance.
   */
  #budgets(subject: string, key: ForeignRow, isAlone: boolean): PlannedSpending | string {
    const budget = this.#budgetOf(key);
    const isBalance = isAlone && foreignText(budget.budget_duration) === null;
    const own = isBalance ? [] : this.#ownBudget(subject, budget);
    const all = [...own, ...windowsOf(key)];
    const empty = all.find(({ left }) => left <= 0n);
    if (empty !== undefined) {
      const which = empty.period === null ? "its budget" : `its budget in every ${empty.period}`;
      return `${which} is used up`;
    }
    return this.#spending(subject, all);
  }

  /**
   * The budgets of a team or a user that renew, as limits of their account. The rest of a budget
   * that does not renew is the balance.
   */
  #accountSpending(subject: string, row: ForeignRow): PlannedSpending {
    const amounts = [foreignUsd(row.max_budget), foreignUsd(row.spend ?? 0)];
    const isRenewed = foreignText(row.budget_duration) !== null && !amounts.includes(null);
    const own = isRenewed ? this.#ownBudget(subject, row) : [];
    const all = [...own, ...windowsOf(row)];
    for (const { left, period } of all) {
      if (left > 0n) continue;
      this.#notes.push(`${subject}: its empty budget in every ${period} is left out`);
    }
    return this.#spending(
      subject,
      all.filter(({ left }) => left > 0n),
    );
  }

  /** Budgets by their spans, and the smallest of their months. */
  #spending(subject: string, all: readonly BudgetWindow[]): PlannedSpending {
    const budgets: PlannedBudget[] = [];
    let monthlyLimit: NanoUsd | null = null;
    for (const { most, left, period } of all) {
      const { span, isSame } = spanOf(period);
      const there = `its limit was ${toDollars(most)} in every ${period}`;
      if (span !== "month") {
        budgets.push({ span, amount: left });
        if (!isSame)
          this.#notes.push(`${subject}: ${there}; here it is ${toDollars(left)} of all time`);
        continue;
      }
      if (!isSame) this.#notes.push(`${subject}: ${there}; here it is at most as much each month`);
      if (monthlyLimit === null || left < monthlyLimit) monthlyLimit = left;
    }
    return { budgets: smallestOfSpans(budgets), monthlyLimit };
  }

  /**
   * The budget of a key, or nothing; its spending counts only if the budget does not renew here.
   */
  #ownBudget(subject: string, budget: ForeignRow): readonly BudgetWindow[] {
    if ((budget.max_budget ?? null) === null) return [];
    const most = foreignUsd(budget.max_budget);
    const spent = foreignUsd(budget.spend ?? 0);
    const period = foreignText(budget.budget_duration);
    if (most !== null && most <= 0n) return [{ most, left: most, period }];
    if (most === null || spent === null) {
      this.#notes.push(
        `${subject}: its budget of ${budget.max_budget} is no limit here; it has none`,
      );
      return [];
    }
    const left = spanOf(period).span === "total" ? subtract(most, spent) : most;
    return [{ most, left, period }];
  }

  #balance(subject: string, budget: ForeignRow): NanoUsd {
    const nothing = (why: string) => {
      this.#notes.push(`${subject}: ${why}; here the balance is $0.00`);
      return ZERO;
    };
    if ((budget.max_budget ?? null) === null) return nothing("it has no budget, so no limit");
    const most = foreignUsd(budget.max_budget);
    const spent = foreignUsd(budget.spend ?? 0);
    if (most === null || spent === null) {
      return nothing(
        `a budget of ${budget.max_budget} and a spending of ${budget.spend} do not fit`,
      );
    }
    const period = foreignText(budget.budget_duration);
    if (period !== null) {
      const renewal = `its budget of ${toDollars(most)} renews in every ${period}`;
      return nothing(`${renewal}, which is a limit here, and no credit`);
    }
    const left = subtract(most, spent);
    return left < 0n
      ? nothing(`it spent ${toDollars(subtract(spent, most))} more than its budget`)
      : left;
  }

  /** Notes the limits of a team or a user, which its keys have as far as a key can have them. */
  #ownerLimits(subject: string, row: ForeignRow): void {
    const models = modelsOf(row);
    if (models !== null) {
      const only = models.length === 0 ? "no model" : `only ${models.join(", ")}`;
      this.#notes.push(
        `${subject}: its keys may call ${only}; a key made later may call every one`,
      );
    }
    const rates = RATES.filter((rate) => (row[rate] ?? null) !== null);
    const lost = rates.map((rate) => `${rate} ${row[rate]}`);
    if (windowsOf(row).length < budgetLimitsOf(row).length) lost.push(SEVERAL_PERIODS);
    this.#restrictions(subject, row, lost);
  }

  /** Notes the fields of a row, beside `others`, that are not carried over. */
  #restrictions(subject: string, row: ForeignRow, others: readonly string[]): void {
    const lost = [...others];
    const routes = listOf(row.allowed_routes);
    if (routes.length > 0) lost.push(`only the routes ${routes.join(", ")}`);
    const parallel = row.max_parallel_requests ?? null;
    if (parallel !== null) lost.push(`max_parallel_requests ${parallel}`);
    if (Object.keys((row.model_max_budget as object | null) ?? {}).length > 0) {
      lost.push("budgets for single models");
    }
    for (const part of ["organization_id", "project_id", "agent_id"]) {
      if (foreignText(row[part]) !== null) lost.push(`${part} ${row[part]}`);
    }
    if (lost.length > 0) this.#notes.push(`${subject}: not carried over: ${lost.join("; ")}`);
  }

  /** Notes the data that Farebox cannot store at all. */
  #others(): void {
    for (const { organization_id: id, organization_alias: name } of this.tables.organizations) {
      this.#notes.push(`organization ${id} '${name}': not carried over, nor is its budget`);
    }
    for (const { user_id: user, team_id: team, budget_id: budget } of this.tables.memberships) {
      if (foreignText(budget) === null) continue;
      const member = `team ${team}: the budget${this.#words(budget)} of its member ${user}`;
      this.#notes.push(`${member} is not carried over`);
    }
  }

  /** The amount and the period of a shared budget; "" if it has no amount. */
  #words(id: unknown): string {
    const shared = this.tables.budgets.get(String(id));
    const most = foreignUsd(shared?.max_budget);
    if (most === null) return "";
    const period = foreignText(shared?.budget_duration);
    return ` of ${toDollars(most)}${period === null ? "" : ` in every ${period}`}`;
  }
}

interface BudgetWindow {
  readonly most: NanoUsd;
  /** The rest of the budget: below `most` only if the spending so far counts here. */
  readonly left: NanoUsd;
  /** Null for a budget that does not renew. */
  readonly period: string | null;
}

/** The models of a list of LiteLLM's; null for every model. */
function modelsOf({ models }: ForeignRow): ModelPatterns {
  const names = listOf(models);
  if (names.length === 0 || names.some((name) => ALL_MODELS.has(name))) return null;
  return names.filter((name) => name !== NO_MODELS);
}

function tagsOf({ metadata }: ForeignRow): string[] {
  return listOf(objectOrEmpty(storedJson(metadata)).tags);
}

function windowsOf(row: ForeignRow): BudgetWindow[] {
  return budgetLimitsOf(row).flatMap((limit) => {
    const { max_budget: budget, budget_duration: period } = (limit ?? {}) as ForeignRow;
    const most = foreignUsd(budget);
    return most === null ? [] : [{ most, left: most, period: foreignText(period) ?? "?" }];
  });
}

function budgetLimitsOf({ budget_limits: limits }: ForeignRow): readonly unknown[] {
  const list = storedJson(limits);
  return Array.isArray(list) ? list : [];
}

/** A value of a JSON column: some releases of LiteLLM store it as a text in its JSON. */
function storedJson(value: unknown): unknown {
  return typeof value === "string" ? jsonOrNull(value) : value;
}

/** True for a value that sets no limit: LiteLLM stores empty objects and lists for that, too. */
function isNoLimit(value: unknown): boolean {
  if ((value ?? null) === null) return true;
  const limit = storedJson(value);
  return typeof limit === "object" && limit !== null && Object.keys(limit).length === 0;
}

function subjectOf(key: ForeignRow): string {
  const name = foreignText(key.key_alias) ?? foreignText(key.key_name) ?? "";
  return `key '${nameFrom(name, "without a name")}' (…${lastFourOf(key)})`;
}

/** LiteLLM keeps a digest of a key, and for people its last four characters: `sk-...abcd`. */
function lastFourOf({ key_name: name }: ForeignRow): string {
  return /^sk-\.\.\.(.{1,8})$/.exec(foreignText(name) ?? "")?.[1] ?? "";
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
