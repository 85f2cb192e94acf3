// Plans an import from LiteLLM's proxy. A budget there is an upper limit, and spending is counted
// up to it; the unspent part of a budget that does not renew becomes a balance.

import { type NanoUsd, subtract, toDollars, ZERO } from "../../core/money/money.ts";
import type { ForeignRow } from "../../store/imports/foreign-database.ts";
import type { LiteLlmTables } from "../../store/imports/litellm-source.ts";
import { liteLlmCatalogue } from "./litellm-models.ts";
import type { Unseal } from "./litellm-secrets.ts";
import {
  emailFrom,
  endNote,
  foreignText,
  foreignUsd,
  isSet,
  jsonValue,
  nameFrom,
  type PlannedAccount,
  type PlannedKey,
  type PlanTerms,
  type ProductPlan,
  sharedEmails,
} from "./plan.ts";

/** LiteLLM's dashboard makes itself a key for each sign-in. */
const DASHBOARD_TEAM = "litellm-dashboard";
const MONTHS = new Set(["28d", "29d", "30d", "31d", "1mo"]);
const ALL_MODELS = new Set(["all-proxy-models", "all-team-models"]);

/** Plans an import from these tables. */
export function planLiteLlm(
  tables: LiteLlmTables,
  terms: PlanTerms & { readonly unseal: Unseal | null },
): ProductPlan {
  return new LiteLlmPlan(tables, terms).plan();
}

class LiteLlmPlan {
  readonly #notes: string[] = [];
  readonly #keys = new Map<string, PlannedKey[]>();
  readonly #teamIds: ReadonlySet<unknown>;
  readonly #userIds: ReadonlySet<unknown>;

  constructor(
    readonly tables: LiteLlmTables,
    readonly terms: PlanTerms & { readonly unseal: Unseal | null },
  ) {
    this.#teamIds = new Set(tables.teams.map(({ team_id: id }) => id));
    this.#userIds = new Set(tables.users.map(({ user_id: id }) => id));
  }

  plan(): ProductPlan {
    const { teams, users, models } = this.tables;
    const alone = this.tables.keys.flatMap((key) => this.#placeKey(key));
    const accounts = [
      ...teams.map((team) => this.#team(team)),
      ...users.flatMap((user) => this.#user(user)),
      ...alone,
    ];
    this.#others();
    const { catalogue, notes } = liteLlmCatalogue(models, this.terms, this.terms.unseal);
    const all = [...this.#notes, ...sharedEmails(accounts), ...notes];
    return { product: "LiteLLM", accounts, catalogue, notes: all };
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
    this.#restrictions(subject, team);
    const origin = `team:${id}`;
    const keys = this.#keys.get(origin) ?? [];
    const balance = this.#balance(subject, team);
    return { origin, name, email: null, balance, suspended, keys };
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
    this.#restrictions(subject, user);
    const balance = this.#balance(subject, user);
    return [{ origin, name, email, balance, suspended: false, keys }];
  }

  /** Gives a key to its team or its user; a key without either pays for itself. */
  #placeKey(key: ForeignRow): PlannedAccount[] {
    if (key.team_id === DASHBOARD_TEAM) return [];
    const subject = subjectOf(key);
    const owner = this.#ownerOf(key);
    const isAlone = owner === null;
    const planned = this.#key(subject, key, isAlone);
    if (planned === null) return [];
    if (owner !== null) {
      this.#keys.set(owner, [...(this.#keys.get(owner) ?? []), planned]);
      return [];
    }
    const balance = this.#balance(subject, this.#budgetOf(key));
    const origin = `owner-of-key:${key.token}`;
    const { name } = planned;
    return [{ origin, name, email: null, balance, suspended: false, keys: [planned] }];
  }

  #ownerOf(key: ForeignRow): string | null {
    const [team, user] = [foreignText(key.team_id), foreignText(key.user_id)];
    if (team !== null && this.#teamIds.has(team)) return `team:${team}`;
    return user !== null && this.#userIds.has(user) ? `user:${user}` : null;
  }

  #key(subject: string, key: ForeignRow, isAlone: boolean): PlannedKey | null {
    const refuse = (why: string) => {
      this.#notes.push(`${subject}: ${why}; no new key`);
      return null;
    };
    if (isSet(key.blocked)) return refuse("blocked there");
    const expiresMs = Number(key.expires ?? Number.POSITIVE_INFINITY);
    if (expiresMs <= this.terms.nowMs) return refuse("expired there");
    const limit = isAlone ? null : this.#limit(subject, this.#budgetOf(key));
    const monthlyLimit = limit === "used up" ? limit : this.#smallest(subject, limit, key);
    if (monthlyLimit === "used up") return refuse("its budget is used up");
    this.#notes.push(...endNote(subject, expiresMs));
    this.#restrictions(subject, key);
    const name = nameFrom(foreignText(key.key_alias) ?? foreignText(key.key_name), "imported");
    const lastFour = lastFourOf(key);
    return { origin: `key:${key.token}`, name, lastFour, monthlyLimit, ipAllowlist: [] };
  }

  /** Returns the budget of a key: its own, or else the one that it shares. */
  #budgetOf(key: ForeignRow): ForeignRow {
    if ((key.max_budget ?? null) !== null) return key;
    const shared = this.tables.budgets.get(String(key.budget_id));
    return shared === undefined ? key : { ...shared, spend: key.spend };
  }

  #limit(subject: string, budget: ForeignRow): NanoUsd | null | "used up" {
    if ((budget.max_budget ?? null) === null) return null;
    const most = foreignUsd(budget.max_budget);
    const spent = foreignUsd(budget.spend ?? 0);
    if (most !== null && most <= 0n) return "used up";
    if (most === null || spent === null) {
      this.#notes.push(
        `${subject}: its budget of ${budget.max_budget} is no limit here; it has none`,
      );
      return null;
    }
    const period = foreignText(budget.budget_duration);
    if (period !== null) {
      if (!MONTHS.has(period)) {
        const was = `${toDollars(most)} in every ${period}`;
        this.#notes.push(`${subject}: its limit was ${was}; here it is as much each month`);
      }
      return most;
    }
    const left = subtract(most, spent);
    if (left <= 0n) return "used up";
    this.#notes.push(
      `${subject}: ${toDollars(left)} were left to it in all; here that is its limit each month`,
    );
    return left;
  }

  /**
   * Returns the smallest of a limit and of the budgets for several periods that a key has there.
   */
  #smallest(subject: string, limit: NanoUsd | null, key: ForeignRow): NanoUsd | null | "used up" {
    const windows = windowsOf(key);
    const smallest = [limit, ...windows.map(({ most }) => most)]
      .filter((one) => one !== null)
      .reduce<NanoUsd | null>((one, other) => (one !== null && one < other ? one : other), null);
    if (smallest === null || windows.length === 0) return limit;
    if (smallest <= 0n) return "used up";
    const were = windows.map(({ most, period }) => `${toDollars(most)} in every ${period}`);
    this.#notes.push(
      `${subject}: its limits were ${were.join(", ")}; here the smallest is its limit each month`,
    );
    return smallest;
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
      return nothing(`its budget of ${toDollars(most)} renews in every ${period}`);
    }
    const left = subtract(most, spent);
    return left < 0n
      ? nothing(`it spent ${toDollars(subtract(spent, most))} more than its budget`)
      : left;
  }

  #restrictions(subject: string, row: ForeignRow): void {
    const lost: string[] = [];
    const models = listOf(row.models).filter((model) => !ALL_MODELS.has(model));
    if (models.length > 0) lost.push(`only the models ${models.join(", ")}`);
    const routes = listOf(row.allowed_routes);
    if (routes.length > 0) lost.push(`only the routes ${routes.join(", ")}`);
    for (const limit of ["tpm_limit", "rpm_limit", "max_parallel_requests"]) {
      if ((row[limit] ?? null) !== null) lost.push(`${limit} ${row[limit]}`);
    }
    if (Object.keys((row.model_max_budget as object | null) ?? {}).length > 0) {
      lost.push("budgets for single models");
    }
    if (budgetLimitsOf(row).length > 0) lost.push("budgets for several periods");
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
    const limited = this.tables.endUsers.filter(
      ({ budget_id: budget }) => foreignText(budget) !== null,
    );
    for (const { user_id: id } of limited) {
      this.#notes.push(`end user ${id}: its budget is not carried over`);
    }
  }
}

interface BudgetWindow {
  readonly most: NanoUsd;
  readonly period: string;
}

function windowsOf(row: ForeignRow): BudgetWindow[] {
  return budgetLimitsOf(row).flatMap((limit) => {
    const { max_budget: budget, budget_duration: period } = (limit ?? {}) as ForeignRow;
    const most = foreignUsd(budget);
    return most === null ? [] : [{ most, period: foreignText(period) ?? "?" }];
  });
}

/** Some releases of LiteLLM store the list as a text in its JSON. */
function budgetLimitsOf({ budget_limits: limits }: ForeignRow): readonly unknown[] {
  const list = typeof limits === "string" ? jsonValue(limits) : limits;
  return Array.isArray(list) ? list : [];
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
