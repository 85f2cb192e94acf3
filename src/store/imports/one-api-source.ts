// The tables of one-api and new-api that an import reads.

import { type ForeignRow, type ForeignTables, requireTables } from "./foreign-database.ts";

export interface OneApiTables {
  /** The two products number their channel types differently. */
  readonly product: "one-api" | "new-api";
  readonly users: readonly ForeignRow[];
  readonly tokens: readonly ForeignRow[];
  readonly channels: readonly ForeignRow[];
  /** Settings that were changed there. */
  readonly options: ReadonlyMap<string, string>;
}

const USERS = ["id", "username", "display_name", "role", "status", "email", "quota", "group"];
const TOKENS = ["id", "user_id", "key", "status", "name", "expired_time", "remain_quota"];
const CHANNELS = ["id", "type", "key", "status", "name", "base_url", "models", "model_mapping"];

/** @throws ForeignDatabaseError if these are not the tables of one-api or new-api */
export async function readOneApi(tables: ForeignTables): Promise<OneApiTables> {
  await requireTables(tables, "one-api or new-api", {
    users: ["id", "username", "quota", "status"],
    tokens: ["id", "user_id", "key", "remain_quota", "unlimited_quota"],
    channels: ["id", "type", "models", "status"],
    options: ["key", "value"],
  });
  const tokenColumns = await tables.columns("tokens");
  const options = await tables.rows("options", ["key", "value"]);
  return {
    product: tokenColumns.has("model_limits_enabled") ? "new-api" : "one-api",
    users: byId(await tables.rows("users", [...USERS, "aff_quota", "deleted_at"])),
    tokens: byId(
      await tables.rows("tokens", [
        ...TOKENS,
        "unlimited_quota",
        "models",
        "subnet",
        "model_limits_enabled",
        "model_limits",
        "allow_ips",
        "group",
        "deleted_at",
      ]),
    ),
    channels: byId(await tables.rows("channels", [...CHANNELS, "priority", "group"])),
    options: new Map(options.map(({ key, value }) => [String(key), String(value)])),
  };
}

function byId(rows: readonly ForeignRow[]): ForeignRow[] {
  return [...rows].sort((a, b) => Number(a.id) - Number(b.id));
}
