// Tests search with its defaults: the product's processes, no provider configured, a plain HTTP
// client.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";
import { shared, sharedFolder } from "../../support/shared.ts";

const ROOT = join(import.meta.dir, "../../..");
const folder = sharedFolder("e2e-search");
const dataFolder = join(folder, "data");

const product = await shared(
  startProduct({ search: "built in", env: { FAREBOX_DATA: dataFolder } }),
);
// The account repeats its request until the index is built: more than a minute of the Starter tier.
const account = await product.account({ paid: "5", scopes: ["search"], contract: "enterprise" });

interface Result {
  readonly url: string;
  readonly title: string;
}

async function post(api: number, path: string, body: unknown) {
  const response = await fetch(product.api(api).url + path, {
    method: "POST",
    headers: { "x-api-key": account.key },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Record<string, unknown> };
}

async function resultsOf(api: number, query: string): Promise<readonly Result[]> {
  const { body } = await post(api, "/v1/search", { query, max_results: 3 });
  return (body.results ?? []) as Result[];
}

function run(...args: readonly string[]) {
  const env = { ...process.env, ...product.env, FAREBOX_DATA: dataFolder };
  return Bun.spawn([process.execPath, "src/cli/main.ts", ...args], { cwd: ROOT, env }).exited;
}

test("the index is built at the first start while everything else is served", async () => {
  // Two processes build it at the same time.
  for (const api of [0, 1]) {
    const query = { query: "css grid layout", max_results: 2 };
    let answer = await post(api, "/v1/search", query);
    const isServed = async () => {
      if (answer.status === 200) return true;
      expect(answer.status).toBe(503);
      expect(answer.body.error).toMatchObject({ code: "search_unavailable" });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await fetch(`${product.api(api).url}/readyz`)).status).toBe(200);
      answer = await post(api, "/v1/search", query);
      return false;
    };
    await eventually("the index is built", isServed, 55_000);
    expect(answer.body).toMatchObject({
      object: "search",
      results_count: 2,
      provider: "embedded",
      svc: { cost_usd: 0.001, free_credit_usd: 0 },
    });
    expect(answer.headers.get("x-svc-cost-usd")).toBe("0.001");
  }
});

test("a batch is answered in its order and charged once", async () => {
  const batch = [{ query: "addEventListener", max_results: 1 }, { query: "🎈" }];
  const { status, headers, body } = await post(1, "/v1/search/batch", batch);
  expect(status).toBe(200);
  expect(headers.get("x-svc-cost-usd")).toBe("0.0005");
  expect(body).toMatchObject([{ results_count: 1 }, { results_count: 0 }]);
});

test("documents added by the command line are found by running processes", async () => {
  expect(await resultsOf(0, "quokka")).toEqual([]);
  const file = join(folder, "zoo.jsonl");
  const quokka = { url: "https://zoo.example/quokka", title: "The quokka", text: "It smiles." };
  writeFileSync(file, JSON.stringify(quokka));
  expect(await run("index", "add", file)).toBe(0);
  for (const api of [0, 1]) {
    await eventually(
      "it is found",
      async () => (await resultsOf(api, "quokka")).length > 0,
      60_000,
    );
    expect(await resultsOf(api, "smiling quokkas")).toMatchObject([{ url: quokka.url }]);
  }
});

test("an operator's pause affects every process, and costs no account anything", async () => {
  expect(await run("service", "pause", "search")).toBe(0);
  await eventually("both are paused", async () => {
    const answers = await Promise.all([0, 1].map((api) => post(api, "/v1/search", { query: "x" })));
    return answers.every(({ status }) => status === 503);
  });
  const { body } = await post(0, "/v1/search", { query: "x" });
  expect(body.error).toMatchObject({ code: "search_unavailable", message: "Search is paused" });
  expect(await run("service", "resume", "search")).toBe(0);
  await eventually("both serve", async () => {
    const answers = await Promise.all([0, 1].map((api) => post(api, "/v1/search", { query: "x" })));
    return answers.every(({ status }) => status === 200);
  });
});

test("everything that was charged is in the ledger", async () => {
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
});
