// The tables of LiteLLM's proxy that an import reads.

import { type ForeignRow, type ForeignTables, requireTables } from "./foreign-database.ts";

export interface LiteLlmTables {
  readonly users: readonly ForeignRow[];
  readonly teams: readonly ForeignRow[];
  readonly keys: readonly ForeignRow[];
  readonly models: readonly ForeignRow[];
  /** Budgets that keys, organisations and members of teams share, by their id. */
  readonly budgets: ReadonlyMap<string, ForeignRow>;
  readonly organizations: readonly ForeignRow[];
  readonly memberships: readonly ForeignRow[];
  readonly endUsers: readonly ForeignRow[];
}

const BUDGET = ["max_budget", "budget_duration", "spend"];
const LIMITS = [
  "models",
  "tpm_limit",
  "rpm_limit",
  "max_parallel_requests",
  "model_max_budget",
  "budget_limits",
];

/** @throws ForeignDatabaseError if these are not the tables of LiteLLM */
export async function readLiteLlm(tables: ForeignTables): Promise<LiteLlmTables> {
  await requireTables(tables, "LiteLLM", {
    LiteLLM_UserTable: ["user_id", "max_budget", "spend"],
    LiteLLM_TeamTable: ["team_id", "max_budget", "spend"],
    LiteLLM_VerificationToken: ["token", "max_budget", "spend", "user_id", "team_id"],
    LiteLLM_BudgetTable: ["budget_id", "max_budget"],
    LiteLLM_ProxyModelTable: ["model_name", "litellm_params"],
  });
  const budgets = await tables.rows("LiteLLM_BudgetTable", ["budget_id", ...BUDGET, ...LIMITS]);
  const rows = async (table: string, id: string, columns: readonly string[]) =>
    sorted(await tables.rows(`LiteLLM_${table}`, [id, "created_at", ...columns]), id);
  return {
    users: await rows("UserTable", "user_id", [
      "user_alias",
      "user_email",
      "user_role",
      "organization_id",
      "teams",
      ...BUDGET,
      ...LIMITS,
    ]),
    teams: await rows("TeamTable", "team_id", [
      "team_alias",
      "blocked",
      "organization_id",
      "members_with_roles",
      "metadata",
      ...BUDGET,
      ...LIMITS,
    ]),
    keys: await rows("VerificationToken", "token", [
      "key_name",
      "key_alias",
      "expires",
      "user_id",
      "team_id",
      "blocked",
      "budget_id",
      "allowed_routes",
      "organization_id",
      "project_id",
      "agent_id",
      "metadata",
      ...BUDGET,
      ...LIMITS,
    ]),
    models: await rows("ProxyModelTable", "model_id", [
      "model_name",
      "litellm_params",
      "model_info",
      "blocked",
    ]),
    budgets: new Map(budgets.map((row) => [String(row.budget_id), row])),
    organizations: await rows("OrganizationTable", "organization_id", [
      "organization_alias",
      "budget_id",
    ]),
    memberships: await rows("TeamMembership", "team_id", ["user_id", "budget_id"]),
    endUsers: await rows("EndUserTable", "user_id", ["budget_id", "spend", "blocked"]),
  };
}

/** The oldest first, and the same order in each run. */
function sorted(rows: readonly ForeignRow[], id: string): ForeignRow[] {
  const time = (row: ForeignRow) =>
    row.created_at instanceof Date ? row.created_at.getTime() : Number.NEGATIVE_INFINITY;
  return [...rows].sort((a, b) => time(a) - time(b) || (String(a[id]) < String(b[id]) ? -1 : 1));
}
