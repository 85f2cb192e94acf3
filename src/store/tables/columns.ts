// Column types that all tables share.

import { bigint, customType, timestamp } from "drizzle-orm/pg-core";

export const bytea = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
export const at = (name: string) => timestamp(name, { withTimezone: true });
export const number = (name: string) => bigint(name, { mode: "number" });
export const money = (name: string) => bigint(name, { mode: "bigint" });
