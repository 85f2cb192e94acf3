// Checks that each decision has one entry, and that the code, test or page that it explains names
// its id.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { $ } from "bun";
import { PROJECT } from "../../../scripts/docs/generated-docs.ts";

const FOLDER = "docs/decisions/";
const ID = /\bD-\d{3}\b/g;
const KINDS = /\.(tsx?|mjs|lua|md|sql|ya?ml|patch)$/;
const LINES_MAX = 200;

/**
 * Lists every text file that git knows or would add. The changelog may name decisions of any age.
 */
async function filesOf(project: string): Promise<string[]> {
  const listed = await $`git ls-files --cached --others --exclude-standard`.cwd(project).text();
  const names = listed.split("\n").filter((name) => KINDS.test(name));
  const found = await Promise.all(
    names.map(async (name) => ((await Bun.file(join(project, name)).exists()) ? name : "")),
  );
  return found.filter((name) => name !== "" && name !== "CHANGELOG.md");
}

const files = await filesOf(PROJECT);
const texts = new Map(
  await Promise.all(
    files.map(async (name) => [name, await Bun.file(join(PROJECT, name)).text()] as const),
  ),
);
const topics = files.filter((name) => name.startsWith(FOLDER) && !name.endsWith("/README.md"));
const entries = topics.flatMap((name) => {
  return [...decisionsText(name).matchAll(/^## (D-\d{3}): /gm)].map(([, id = ""]) => id);
});

function decisionsText(name: string): string {
  return texts.get(name) ?? "";
}

/** The ids in all files, each with a file that has it. */
function idsIn(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap((name) => (decisionsText(name).match(ID) ?? []).map((id) => [id, name] as const)),
  );
}

test("there are decisions to check", () => {
  expect(entries.length).toBeGreaterThan(100);
});

test("no id has two entries", () => {
  expect(entries.filter((id, index) => entries.indexOf(id) !== index)).toEqual([]);
});

test("every id in the code, the tests and the pages has an entry", () => {
  const unknown = [...idsIn(files)].filter(([id]) => !entries.includes(id));
  expect(unknown).toEqual([]);
});

test("every entry is named outside of the decisions", () => {
  const named = idsIn(files.filter((name) => !name.startsWith(FOLDER)));
  expect(entries.filter((id) => !named.has(id))).toEqual([]);
});

test("every entry names an alternative that lost", () => {
  const without = topics.flatMap((name) => {
    const [, ...parts] = decisionsText(name).split(/^## /m);
    return parts.filter((part) => !part.includes("**Lost:**")).map((part) => part.slice(0, 5));
  });
  expect(without).toEqual([]);
});

test("no file of decisions is long, and the index names each", () => {
  const long = topics.filter((name) => decisionsText(name).split("\n").length > LINES_MAX);
  expect(long).toEqual([]);
  const index = decisionsText(`${FOLDER}README.md`);
  const missing = topics.filter((name) => !index.includes(`(${name.slice(FOLDER.length)})`));
  expect(missing).toEqual([]);
});
