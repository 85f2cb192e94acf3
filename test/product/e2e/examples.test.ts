// Tests that the programs of examples/ run as they stand against a started product. Python and Go
// run with the packages that `npm run clients` installed. Without them they are skipped, so that
// `npm test` needs no registry; in CI they are installed here, and a missing toolchain is a
// failure.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { startProduct } from "../../support/product/product.ts";
import {
  isCi,
  type OrMissing,
  preparedGo,
  preparedPython,
  prepareGo,
  preparePython,
} from "../../support/product/toolchains.ts";
import { shared } from "../../support/shared.ts";

const SAID = "Fares are paid before the ride begins.";
const COST = "0.000028";
/** Starting an interpreter and its SDK takes seconds on a busy machine. */
const RUN_MS_MAX = 120_000;

const GO_MODULE = "examples/go";
const python = isCi() ? await preparePython() : preparedPython();
const go = isCi() ? await prepareGo(GO_MODULE) : preparedGo(GO_MODULE);
const curl: OrMissing<string> = Bun.which("curl") === null ? { missing: "there is no curl" } : "sh";

/** The programs of the SDKs, which print the same. */
const PROGRAMS: Readonly<Record<string, { program: OrMissing<string>; file: string[] }>> = {
  JavaScript: { program: process.execPath, file: ["examples/javascript/chat.js"] },
  Python: { program: python, file: ["examples/python/chat.py"] },
  Go: { program: go, file: [] },
};

const product = await shared(startProduct({ apis: 1, models: [{ id: "ok" }], search: "built in" }));

interface Run {
  readonly exitCode: number;
  readonly out: string;
  readonly problems: string;
}

async function run(program: OrMissing<string>, file: string[], env: object): Promise<Run> {
  if (typeof program !== "string") throw new Error(`In CI this must run, but ${program.missing}`);
  const child = Bun.spawn([program, ...file], {
    cwd: PROJECT,
    env: { ...process.env, FAREBOX_MODEL: "ok", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, problems] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, out, problems };
}

/** A test of a program that may be missing. */
function example(program: OrMissing<string>, name: string, body: () => Promise<void>): void {
  const canRun = typeof program === "string" || isCi();
  test.skipIf(!canRun)(canRun ? name : `${name} (${missingOf(program)})`, body, RUN_MS_MAX);
}

function missingOf(program: OrMissing<string>): string {
  return typeof program === "string" ? "" : program.missing;
}

function urlOf(path: string): string {
  return product.api(0).url + path;
}

for (const [language, { program, file }] of Object.entries(PROGRAMS)) {
  describe(language, () => {
    for (const [surface, path] of [
      ["gateway", "/v1"],
      ["application", "/api/v1"],
    ] as const) {
      example(program, `gets models, an answer and a stream of the ${surface}`, async () => {
        const { key } = await product.account({ surface });
        const env = { FAREBOX_URL: urlOf(path), FAREBOX_KEY: key };
        const { exitCode, out, problems } = await run(program, file, env);
        expect({ exitCode, problems }).toEqual({ exitCode: 0, problems: "" });
        expect(out).toContain("model: ok\n");
        expect(out).toContain(`answer: ${SAID}\n`);
        expect(out).toContain(`stream: ${SAID}\n`);
        const costs = [...out.matchAll(/^cost: (\S+) USD/gm)].map(([, cost]) => Number(cost));
        expect(costs).toEqual([Number(COST), Number(COST)]);
      });
    }

    example(program, "says why it was refused", async () => {
      const env = { FAREBOX_URL: urlOf("/v1"), FAREBOX_KEY: "svc_live_wrong" };
      const { exitCode, problems } = await run(program, file, env);
      expect(exitCode).toBe(1);
      expect(problems).toContain("refused: 401 invalid_api_key");
    });
  });
}

describe("curl", () => {
  example(curl, "gets models, an answer, a stream and the balance", async () => {
    const { key } = await product.account();
    const env = { FAREBOX_URL: urlOf("/v1"), FAREBOX_KEY: key };
    const { exitCode, out } = await run(curl, ["examples/curl/chat.sh"], env);
    expect(exitCode).toBe(0);
    expect(out).toContain('"id":"ok"');
    expect(out).toContain(`"content":"${SAID}"`);
    expect(out).toContain("data: [DONE]");
    expect(out).toContain('"object":"account"');
  });

  example(curl, "searches the web", async () => {
    const { key } = await product.account({ paid: "5", scopes: ["search"] });
    const env = { FAREBOX_URL: urlOf("/v1"), FAREBOX_KEY: key };
    const { exitCode, out } = await run(curl, ["examples/curl/search.sh"], env);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ object: "search", results: expect.any(Array) });
  });

  example(curl, "ends with an error when it is refused", async () => {
    const env = { FAREBOX_URL: urlOf("/v1"), FAREBOX_KEY: "svc_live_wrong" };
    const { exitCode, out } = await run(curl, ["examples/curl/search.sh"], env);
    expect(exitCode).not.toBe(0);
    expect(out).toContain("invalid_api_key");
  });
});

test("the examples use the SDKs that `npm run clients` proves", () => {
  const text = (file: string) => readFileSync(join(PROJECT, file), "utf8");
  const packages = JSON.parse(text("package.json")) as { devDependencies: { openai: string } };
  const { openai } = packages.devDependencies;
  expect(JSON.parse(text("examples/javascript/package.json"))).toMatchObject({
    dependencies: { openai },
  });
  const line = /^openai==.*$/m;
  const [wanted] = line.exec(text("examples/python/requirements.txt")) ?? ["nothing"];
  expect(line.exec(text("test/product/clients/python/requirements.txt"))?.[0]).toBe(wanted);
  expect(text("examples/go/go.sum")).toBe(text("test/product/clients/go/go.sum"));
});
