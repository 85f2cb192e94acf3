// The files of deploy/ and the pages that go with them: they name only what exists.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SERVER_VARIABLES, STORE_VARIABLES } from "../src/settings/variables.ts";

const PROJECT = join(import.meta.dir, "..");
const ALERTS = read("deploy/prometheus/alerts.yml");

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly runbook: string };
    }[];
  }[];
}
const rules = (Bun.YAML.parse(ALERTS) as Rules).groups.flatMap((group) => group.rules);

function read(path: string): string {
  return readFileSync(join(PROJECT, path), "utf8");
}

test("every alert has its section in the runbook, and every section its alert", () => {
  const sections = [...read("docs/runbook.md").matchAll(/^## (.+)$/gm)].map(([, title = ""]) =>
    title.toLowerCase().replaceAll(" ", "-"),
  );
  const named = new Set(rules.map(({ annotations }) => annotations.runbook));
  expect([...named].sort()).toEqual(sections.sort());
});

test("containers and units set only variables that Farebox reads", () => {
  const known = new Set([
    ...Object.keys(STORE_VARIABLES),
    ...Object.keys(SERVER_VARIABLES),
    ...Object.keys(STORE_VARIABLES).map((name) => `${name}_FILE`),
  ]);
  const units = readdirSync(join(PROJECT, "deploy/systemd")).map((name) =>
    read(join("deploy/systemd", name)),
  );
  const inUnits = units.flatMap((text) =>
    [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = ""]) => [
      ...line.matchAll(/(\w+)=/g),
    ]),
  );
  const compose = Bun.YAML.parse(read("deploy/compose.yaml")) as {
    readonly "x-farebox": { readonly environment: Readonly<Record<string, string>> };
  };
  const image = [...read("deploy/Dockerfile").matchAll(/^(?:ENV|\s{4})\s*(\w+)=/gm)];
  const set = [
    ...Object.keys(compose["x-farebox"].environment),
    ...[...inUnits, ...image].map(([, name = ""]) => name),
  ];
  expect(set.length).toBeGreaterThan(8);
  expect(set.filter((name) => !known.has(name))).toEqual([]);
});
