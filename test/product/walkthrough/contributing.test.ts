// Tests that the walkthrough "Add a service" of CONTRIBUTING.md works as it stands: its blocks are
// applied to a copy of the tree, which then compiles and passes its tests. Without any one of its
// files the tree does not compile, so no file can be forgotten.

import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { sharedFolder } from "../../support/shared.ts";
import { applyStep, readSteps, type Step } from "../../unit/tree/walkthrough.ts";

const SOURCES = ["src", "actors", "migrations", "workers", "dashboard"];
const COPIED = [...SOURCES, "test", "scripts", "bench", "docs"];
const ROOT_FILES = ["README.md", "package.json", "tsconfig.json", "biome.json", "bunfig.toml"];
/** The files that belong only to the service. */
const OWN = ["src/services/echo/", "test/unit/services/echo/"];
/** The product's own files that a service touches outside its folder. */
const SHARED_FILES_MAX = 5;
/** The files with its words in each language but English. */
const LANGUAGE_FILES_MAX = 3;
const NARROW = "tsconfig.service.json";

// Each compiles the tree or runs tests in it, and the machine may be busy.
const STEP_MS_MAX = 300_000;
setDefaultTimeout(STEP_MS_MAX);

const markdown = readFileSync(join(PROJECT, "CONTRIBUTING.md"), "utf8");
const steps = readSteps(markdown, "Add a service");
const files = [...new Set(steps.map(({ path }) => path))];
const touched = files.filter((file) => !OWN.some((folder) => file.startsWith(folder)));
const shared = touched.filter((file) => !file.includes("/texts/"));
const german = touched.filter((file) => /\/texts\/(?:de\/|german)/.test(file));
const chinese = touched.filter((file) => /\/texts\/(?:zh-hans\/|chinese)/.test(file));
const folder = sharedFolder("walkthrough");

beforeAll(() => {
  for (const name of [...COPIED, ...ROOT_FILES]) {
    cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  }
  const narrow = { extends: "./tsconfig.json", include: ["actors/lua.d.ts", ...files] };
  writeFileSync(join(folder, NARROW), JSON.stringify(narrow));
  for (const name of ["node_modules", "lint"]) {
    symlinkSync(join(PROJECT, name), join(folder, name));
  }
});

/** Resets the copy to the tree, with these steps applied. */
function apply(chosen: readonly Step[]): void {
  for (const file of files) {
    rmSync(join(folder, file), { force: true });
    const original = join(PROJECT, file);
    const step = steps.find(({ path }) => path === file);
    if (step?.kind === "diff") writeFileSync(join(folder, file), readFileSync(original));
  }
  for (const step of chosen) applyStep(folder, step);
}

interface Run {
  readonly exitCode: number;
  readonly output: string;
}

async function run(command: readonly string[]): Promise<Run> {
  const child = Bun.spawn([...command], { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [out, problems] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, output: out + problems };
}

/** Runs tests of the copy, on the stores of this run. */
function testInCopy(files: readonly string[]): Promise<Run> {
  return run([process.execPath, "test", `--timeout=${STEP_MS_MAX}`, ...files]);
}

/**
 * Compiles the copy, or the parts that concern a service; unchanged files are not checked again.
 */
function compile(part: "everything" | "parts of a service"): Promise<Run> {
  const project = part === "everything" ? "tsconfig.json" : NARROW;
  const compiler = join("node_modules", ".bin", "tsc");
  // More checkers would each read the same types: faster alone, but not beside other tests.
  const cheaply = ["--checkers", "1", "--incremental", "--tsBuildInfoFile", `${project}.cache`];
  return run([compiler, "--noEmit", "--project", project, ...cheaply]);
}

test("the walkthrough touches few files outside the folder of the service", () => {
  expect(shared.length).toBeGreaterThan(0);
  expect(shared.length).toBeLessThanOrEqual(SHARED_FILES_MAX);
  expect(german.length).toBeLessThanOrEqual(LANGUAGE_FILES_MAX);
  expect(chinese).toHaveLength(german.length);
  expect(touched).toHaveLength(shared.length + german.length + chinese.length);
});

test("its table names exactly these files", () => {
  const rows = [...markdown.matchAll(/^\| `(\S+)` +\| /gm)].map(([, file = ""]) => file);
  expect(rows.filter((file) => file.includes("/") && file.endsWith(".ts"))).toEqual(shared);
});

test("the tree compiles with the walkthrough", async () => {
  apply(steps);
  expect(await compile("everything")).toEqual({ exitCode: 0, output: "" });
});

test("its files pass the linter and have the project's format", async () => {
  apply(steps);
  const biome = join("node_modules", ".bin", "biome");
  const { exitCode, output } = await run([biome, "check", ...files]);
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
});

test("its service is in tiers, routed and billed", async () => {
  apply(steps);
  const files = [
    "./test/unit/core/access/services.test.ts",
    "./test/unit/services/echo/echo.test.ts",
  ];
  const { exitCode, output } = await testInCopy(files);
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
  expect(output).toContain("an echo is charged by the character");
});

test("its refusal while paused is the one of the error table", async () => {
  apply(steps);
  const files = ["-t", "echo_unavailable", "./test/product/api/error-map.test.ts"];
  const { exitCode, output } = await testInCopy(files);
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
  expect(output).toContain("(pass) POST /v1/echo answers > echo_unavailable");
});

test("a test fails until npm run docs has renewed the generated files", async () => {
  apply(steps);
  const fresh = ["./test/unit/tree/docs.test.ts"];
  const { output } = await testInCopy(fresh);
  const stale = ["docs/endpoints.md", "docs/errors.md", "docs/openapi.json"];
  for (const page of stale) expect(output).toContain(`(fail) ${page} is fresh`);
  expect(await run([process.execPath, "scripts/docs.ts"])).toMatchObject({ exitCode: 0 });
  expect(await testInCopy(fresh)).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(folder, "docs/endpoints.md"), "utf8")).toContain("`POST /v1/echo`");
});

describe("the compiler refuses the tree", () => {
  // The test of the service is the one file that no other file requires.
  for (const file of files.filter((one) => !one.startsWith("test/unit/services/"))) {
    test(`without ${file}`, async () => {
      apply(steps.filter(({ path }) => path !== file));
      const { exitCode, output } = await compile("parts of a service");
      expect(exitCode).not.toBe(0);
      expect(output).toMatch(/echo/);
    });
  }
});

test("a step whose place is not in the tree is refused", () => {
  apply([]);
  const step: Step = { path: "src/routes.ts", kind: "diff", text: " no such line\n+more\n" };
  expect(() => applyStep(folder, step)).toThrow("has 0 places");
});
