// Defines the tables of one-api and new-api as their models make them (model/*.go of
// songquanpeng/one-api at 8df4a267 on SQLite, and of QuantumNous/new-api of November 2026 on
// Postgres).

/** The columns that an import reads of one-api, and those around them, on SQLite. */
export const ONE_API_SQLITE = `
CREATE TABLE \`users\` (\`id\` integer PRIMARY KEY AUTOINCREMENT, \`username\` text UNIQUE,
  \`password\` text NOT NULL, \`display_name\` text, \`role\` int DEFAULT 1,
  \`status\` int DEFAULT 1,
  \`email\` text, \`github_id\` text, \`wechat_id\` text, \`lark_id\` text, \`oidc_id\` text,
  \`access_token\` char(32), \`quota\` bigint DEFAULT 0, \`used_quota\` bigint DEFAULT 0,
  \`request_count\` int DEFAULT 0, \`group\` varchar(32) DEFAULT 'default',
  \`aff_code\` varchar(32),
  \`inviter_id\` int);
CREATE TABLE \`tokens\` (\`id\` integer PRIMARY KEY AUTOINCREMENT, \`user_id\` integer,
  \`key\` char(48), \`status\` integer DEFAULT 1, \`name\` text, \`created_time\` bigint,
  \`accessed_time\` bigint, \`expired_time\` bigint DEFAULT -1, \`remain_quota\` bigint DEFAULT 0,
  \`unlimited_quota\` numeric DEFAULT false, \`used_quota\` bigint DEFAULT 0, \`models\` text,
  \`subnet\` text DEFAULT "");
CREATE TABLE \`channels\` (\`id\` integer PRIMARY KEY AUTOINCREMENT, \`type\` integer DEFAULT 0,
  \`key\` text, \`status\` integer DEFAULT 1, \`name\` text, \`weight\` integer DEFAULT 0,
  \`created_time\` bigint, \`test_time\` bigint, \`response_time\` integer,
  \`base_url\` text DEFAULT "",
  \`other\` text, \`balance\` real, \`balance_updated_time\` bigint, \`models\` text,
  \`group\` varchar(32) DEFAULT 'default', \`used_quota\` bigint DEFAULT 0,
  \`model_mapping\` varchar(1024) DEFAULT "", \`priority\` bigint DEFAULT 0, \`config\` text,
  \`system_prompt\` text);
CREATE TABLE \`abilities\` (\`group\` varchar(32), \`model\` text, \`channel_id\` integer,
  \`enabled\` numeric, \`priority\` bigint DEFAULT 0,
  PRIMARY KEY (\`group\`, \`model\`, \`channel_id\`));
CREATE TABLE \`options\` (\`key\` text PRIMARY KEY, \`value\` text);
`;

/** The columns of new-api on Postgres. */
export const NEW_API_POSTGRES = `
CREATE TABLE users (id bigserial PRIMARY KEY, username text UNIQUE, password text NOT NULL,
  display_name text, role int DEFAULT 1, status int DEFAULT 1, email text, github_id text,
  discord_id text, oidc_id text, wechat_id text, telegram_id text, access_token char(32),
  quota int DEFAULT 0, used_quota int DEFAULT 0, request_count int DEFAULT 0,
  "group" varchar(64) DEFAULT 'default', aff_code varchar(32), aff_count int DEFAULT 0,
  aff_quota int DEFAULT 0, aff_history int DEFAULT 0, inviter_id int, deleted_at timestamptz,
  linux_do_id text, setting text, remark varchar(255), stripe_customer varchar(64),
  created_at bigint, last_login_at bigint DEFAULT 0, auth_version bigint NOT NULL DEFAULT 1);
CREATE TABLE tokens (id bigserial PRIMARY KEY, user_id bigint, key varchar(128), status bigint
  DEFAULT 1, name text, created_time bigint, accessed_time bigint, expired_time bigint DEFAULT -1,
  remain_quota bigint DEFAULT 0, unlimited_quota boolean, model_limits_enabled boolean,
  model_limits text, allow_ips text DEFAULT '', used_quota bigint DEFAULT 0, "group" text
  DEFAULT '', cross_group_retry boolean, billing_type bigint DEFAULT 0, deleted_at timestamptz);
CREATE TABLE channels (id bigserial PRIMARY KEY, type bigint DEFAULT 0, key text NOT NULL,
  open_ai_organization text, test_model text, status bigint DEFAULT 1, name text, weight bigint
  DEFAULT 0, created_time bigint, test_time bigint, response_time bigint, base_url text DEFAULT '',
  other text, balance numeric, balance_updated_time bigint, models text, "group" varchar(64)
  DEFAULT 'default', used_quota bigint DEFAULT 0, model_mapping text, status_code_mapping
  varchar(1024) DEFAULT '', priority bigint DEFAULT 0, auto_ban bigint DEFAULT 1, other_info text,
  tag text, setting text, param_override text, header_override text, remark varchar(255),
  channel_info json, settings text);
CREATE TABLE abilities ("group" varchar(64), model varchar(255), channel_id bigint, enabled boolean,
  priority bigint DEFAULT 0, weight bigint DEFAULT 0, tag text,
  PRIMARY KEY ("group", model, channel_id));
CREATE TABLE options (key text PRIMARY KEY, value text);
`;
