// Defines the tables of LiteLLM's proxy as its migrations make them on Postgres (schema.prisma and
// litellm-proxy-extras of BerriAI/litellm, at 029f645f of November 2026), and rows to put there.

import postgres from "postgres";

const BUDGET = `max_budget double precision, budget_duration text, budget_reset_at timestamp(3)`;
const LIMITS = `max_parallel_requests integer, tpm_limit bigint, rpm_limit bigint,
  budget_limits jsonb,
  model_spend jsonb NOT NULL DEFAULT '{}', model_max_budget jsonb NOT NULL DEFAULT '{}'`;
const TIMES = `created_at timestamp(3) DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamp(3) DEFAULT CURRENT_TIMESTAMP`;
const BY = "created_by text NOT NULL DEFAULT 'admin', updated_by text NOT NULL DEFAULT 'admin'";
const SPEND = "spend double precision NOT NULL DEFAULT 0.0";

const TABLES: Readonly<Record<string, string>> = {
  BudgetTable: `budget_id text PRIMARY KEY, soft_budget double precision, ${BUDGET},
    max_parallel_requests integer, tpm_limit bigint, rpm_limit bigint, model_max_budget jsonb,
    allowed_models text[] DEFAULT ARRAY[]::text[], ${TIMES}, ${BY}`,
  OrganizationTable: `organization_id text PRIMARY KEY, organization_alias text NOT NULL,
    budget_id text NOT NULL REFERENCES "LiteLLM_BudgetTable", metadata jsonb NOT NULL DEFAULT '{}',
    models text[], ${SPEND}, model_spend jsonb NOT NULL DEFAULT '{}', ${TIMES}, ${BY}`,
  TeamTable: `team_id text PRIMARY KEY, team_alias text, organization_id text
      REFERENCES "LiteLLM_OrganizationTable", object_permission_id text, admins text[],
    members text[], members_with_roles jsonb NOT NULL DEFAULT '{}',
    metadata jsonb NOT NULL DEFAULT '{}', soft_budget double precision, ${BUDGET}, ${SPEND},
    models text[], ${LIMITS}, blocked boolean NOT NULL DEFAULT false, ${TIMES}, model_id integer,
    team_member_permissions text[] DEFAULT ARRAY[]::text[]`,
  UserTable: `user_id text PRIMARY KEY, user_alias text, team_id text, sso_user_id text UNIQUE,
    organization_id text REFERENCES "LiteLLM_OrganizationTable", object_permission_id text,
    password text, teams text[] DEFAULT ARRAY[]::text[], user_role text, ${BUDGET}, ${SPEND},
    user_email text, models text[], metadata jsonb NOT NULL DEFAULT '{}', ${LIMITS},
    allowed_cache_controls text[] DEFAULT ARRAY[]::text[], ${TIMES}`,
  VerificationToken: `token text PRIMARY KEY, key_name text, key_alias text,
    soft_budget_cooldown boolean NOT NULL DEFAULT false, ${SPEND}, expires timestamp(3),
    models text[], aliases jsonb NOT NULL DEFAULT '{}', config jsonb NOT NULL DEFAULT '{}',
    user_id text, team_id text, agent_id text, project_id text,
    permissions jsonb NOT NULL DEFAULT '{}', metadata jsonb NOT NULL DEFAULT '{}', blocked boolean,
    ${BUDGET}, ${LIMITS}, allowed_cache_controls text[] DEFAULT ARRAY[]::text[],
    allowed_routes text[] DEFAULT ARRAY[]::text[],
    budget_id text REFERENCES "LiteLLM_BudgetTable", organization_id text
      REFERENCES "LiteLLM_OrganizationTable", object_permission_id text, created_by text,
    updated_by text, ${TIMES}, last_active timestamp(3), rotation_count integer DEFAULT 0,
    auto_rotate boolean DEFAULT false, rotation_interval text`,
  ProxyModelTable: `model_id text PRIMARY KEY, model_name text NOT NULL,
    litellm_params jsonb NOT NULL, model_info jsonb, blocked boolean NOT NULL DEFAULT false,
    ${TIMES}, ${BY}`,
  TeamMembership: `user_id text NOT NULL, team_id text NOT NULL, ${SPEND}, budget_id text
      REFERENCES "LiteLLM_BudgetTable", PRIMARY KEY (user_id, team_id)`,
  EndUserTable: `user_id text PRIMARY KEY, alias text, ${SPEND}, allowed_model_region text,
    default_model text, budget_id text REFERENCES "LiteLLM_BudgetTable",
    blocked boolean NOT NULL DEFAULT false`,
};

type ForeignTableRow = Readonly<Record<string, unknown>>;

/** LiteLLM's tables in an empty database, and functions to fill them. */
export interface LiteLlmDatabase extends AsyncDisposable {
  add(table: string, ...rows: readonly ForeignTableRow[]): Promise<void>;
  run(statement: string): Promise<void>;
}

export async function openLiteLlm(url: string): Promise<LiteLlmDatabase> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  for (const [name, columns] of Object.entries(TABLES)) {
    await sql.unsafe(`CREATE TABLE "LiteLLM_${name}" (${columns})`);
  }
  return {
    add: async (table, ...rows) => {
      for (const row of rows) await sql`INSERT INTO ${sql(`LiteLLM_${table}`)} ${sql(row)}`;
    },
    run: async (statement) => {
      await sql.unsafe(statement);
    },
    [Symbol.asyncDispose]: () => sql.end(),
  };
}
