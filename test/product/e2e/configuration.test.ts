// Tests the configuration that all processes share, with the real product: two API processes adopt
// a version while calls run, and each call is charged by the prices of one version.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Configurations } from "../../../src/store/operators/configurations.ts";
import { askChat, postChat } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { type Api, type ProductModel, startProduct } from "../../support/product/product.ts";
import { cliProcess } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";

const WITHIN_MS = 30_000;
const STREAM = "tokens-60-every-100";

const product = await shared(startProduct({ apis: 2, workers: 1, models: pricedAt("1") }));
const { key } = await product.account({ paid: "100", contract: "enterprise" });

function pricedAt(usdPerMillion: string): ProductModel[] {
  const prices = { input: usdPerMillion, output: usdPerMillion };
  return [
    { id: "ok", ...prices },
    { id: STREAM, ...prices },
  ];
}

/** Runs the command line, and returns its JSON output. */
async function config(...args: readonly string[]) {
  const { out, code } = await cliProcess(["config", ...args, "--json"], { env: product.env });
  return { code, ...JSON.parse(out) };
}

async function apply(models: readonly ProductModel[], ...more: readonly string[]) {
  const path = join(product.parts.home, "next.json");
  writeFileSync(path, product.catalogueText(models));
  return await config("apply", path, ...more);
}

async function readiness(api: Api) {
  const response = await fetch(`${api.url}/readyz`);
  return (await response.json()) as {
    readonly status: string;
    readonly warnings: Readonly<Record<string, string>>;
    readonly versions: { readonly configuration: number };
  };
}

async function allRun(version: number): Promise<void> {
  await eventually(
    `all run version ${version}`,
    async () => {
      const found = await Promise.all(product.apis.map(readiness));
      return found.every(({ versions }) => versions.configuration === version);
    },
    WITHIN_MS,
  );
}

/** The cost of the same call at each process, in nano-USD. */
async function costs(): Promise<string[]> {
  const answers = await Promise.all(product.apis.map(({ url }) => askChat(url, key)));
  return answers.map(({ cost }) => String(cost));
}

let atOne: string[] = [];
const times = (factor: bigint) => atOne.map((cost) => String(BigInt(cost) * factor));

test("without a version each process runs its own file", async () => {
  expect((await readiness(product.api(0))).versions.configuration).toBe(0);
  atOne = await costs();
  expect(BigInt(atOne[0] ?? "0")).toBeGreaterThan(0n);
});

test("a version is adopted while calls run, each priced by one or the other", async () => {
  const stream = await postChat(product.api(0).url, key, { model: STREAM, stream: true });
  const seen = new Set<string>();
  let isOver = false;
  const caller = async ({ url }: Api) => {
    while (!isOver) seen.add(String((await askChat(url, key)).cost));
  };
  const callers = product.apis.flatMap((api) => [caller(api), caller(api)]);
  const applied = await apply(pricedAt("7"), "--note", "Dearer");
  expect(applied).toMatchObject({ code: 0, version: 1, applied: true });
  expect(applied.changes).toContain("model ok: added, $7 in, $7 out, by fake/ok");
  await allRun(1).finally(() => {
    isOver = true;
  });
  await Promise.all(callers);
  const after = await costs();
  expect(after).toEqual(times(7n));
  expect([...seen].sort()).toEqual([...new Set([...atOne, ...after])].sort());
  // The stream began before, and ends after, at the prices that it began with.
  const last = /"cost_usd":([\d.]+)/.exec(await stream.text())?.[1] ?? "";
  const tokens = Math.round(Number(last) * 1e6);
  expect(tokens).toBeGreaterThan(60);
  expect(tokens).toBeLessThan(200);
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0, rejected: [] });
});

test("the version in force takes precedence over the file, which is logged", async () => {
  product.writeCatalogue(pricedAt("3"));
  const warned = () =>
    product.apis.every(({ log }) => log.some(({ msg }) => /file is not used/.test(msg)));
  await eventually("the log says it", warned, WITHIN_MS);
  expect(await costs()).toEqual(times(7n));
  await product.api(1).stop(5_000);
  await product.api(1).start();
  expect((await readiness(product.api(1))).versions.configuration).toBe(1);
  expect(await costs()).toEqual(times(7n));
});

test("a rollback puts an earlier text in force, as a new version", async () => {
  await apply(pricedAt("2"));
  await allRun(2);
  expect(await costs()).toEqual(times(2n));
  const back = await config("rollback", "1", "--note", "Too cheap");
  expect(back).toMatchObject({ version: 3, applied: true });
  await allRun(3);
  expect(await costs()).toEqual(times(7n));
  const { versions } = await config("history");
  expect(versions).toMatchObject([
    { version: 3, rolls_back_to: 1, note: "Too cheap", actor: "command line" },
    { version: 2, rolls_back_to: null },
    { version: 1, note: "Dearer" },
  ]);
  const [third, first] = await Promise.all([config("show"), config("show", "--version", "1")]);
  expect(third).toMatchObject({ version: 3, text: first.text });
});

test("a version that a process cannot read changes nothing there, and is alarmed", async () => {
  const configurations = new Configurations(product.operator.database);
  const text = product.catalogueText(pricedAt("5")).replace("{", '{"of_a_newer_release": 1,');
  const row = { actor: "newer", note: null, rollsBackTo: null, expected: null, at: new Date() };
  await configurations.apply({ ...row, text }, () => []);
  await eventually(
    "both are degraded",
    async () => {
      const found = await Promise.all(product.apis.map(readiness));
      return found.every(({ status }) => status === "degraded");
    },
    WITHIN_MS,
  );
  const { warnings, versions } = await readiness(product.api(0));
  expect(warnings.configuration).toStartWith("version 4 is in force, this process runs version 3");
  expect(versions.configuration).toBe(3);
  expect(await product.api(0).metric("farebox_configuration_version")).toBe(3);
  expect(await costs()).toEqual(times(7n));
  const refusal = "configuration version 4 line 1: of_a_newer_release is not allowed here";
  const logged = product.api(0).log.filter(({ msg }) => msg.includes(refusal));
  expect(logged).toHaveLength(1);
  // A process that starts has no earlier version to keep.
  await product.api(1).stop(5_000);
  expect(product.api(1).start()).rejects.toThrow(refusal);
  await config("rollback", "3");
  await eventually(
    "the running one is well",
    async () => (await readiness(product.api(0))).status === "ok",
    WITHIN_MS,
  );
  await product.api(1).start();
  await allRun(5);
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0, rejected: [] });
});
