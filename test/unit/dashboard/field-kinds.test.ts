// Tables of the pages know the kind of a field by its name, so the names must say it (D-642).

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fieldKindOf } from "../../../dashboard/src/field-kinds.ts";
import type { Field, Fields } from "../../../src/core/records.ts";

const READINGS = join(import.meta.dir, "../../../src/readings");

const isField = (value: unknown): value is Field =>
  typeof value === "object" && value !== null && "kind" in value && "encode" in value;

/** Records that no table shows: pages read their fields by name. */
const SHOWN_OTHERWISE: ReadonlySet<string> = new Set(["Usage"]);

/** The records that a module exports and a table may show, by name. */
function recordsOf(module: object): [name: string, fields: Fields][] {
  return Object.entries(module).filter(
    ([name, value]) =>
      !SHOWN_OTHERWISE.has(name) &&
      typeof value === "object" &&
      value !== null &&
      Object.values(value).length > 0 &&
      Object.values(value).every(isField),
  );
}

test("a field of a record is named as its kind: an amount, a time, or neither", async () => {
  const files = readdirSync(READINGS).filter((name) => name.endsWith(".ts"));
  const modules = await Promise.all(files.map((name) => import(join(READINGS, name))));
  const records = modules.flatMap(recordsOf);
  expect(records.length).toBeGreaterThan(6);
  const told = records.flatMap(([record, fields]) =>
    Object.entries(fields).map(([name, { kind }]) => {
      const shown = kind === "usd" || kind === "time" ? kind : "text";
      return [`${record}.${name}`, fieldKindOf(name), shown];
    }),
  );
  expect(told.filter(([, byName, byRecord]) => byName !== byRecord)).toEqual([]);
});
