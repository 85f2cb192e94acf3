// Tests that documents added on one machine are found by the others: two API processes, each with
// its own data directory.

import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { type Api, startProduct } from "../../support/product/product.ts";
import { cliProcess } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { testDataDirectory } from "../../support/stores/services.ts";

const WITHIN_MS = 60_000;

const product = await shared(startProduct({ apis: 2, workers: 0, search: "built in" }));
const terms = { paid: "100", scopes: ["search"], contract: "enterprise" } as const;
const { key } = await product.account(terms);
for (const [index, api] of product.apis.entries()) {
  await api.stop(5_000);
  await api.start({ env: { FAREBOX_DATA: dataOf(`machine-${index}`) } });
}

/** A separate data directory, with the shipped index that was built once for all tests. */
function dataOf(name: string): string {
  const directory = join(product.parts.home, name);
  mkdirSync(directory);
  for (const file of readdirSync(testDataDirectory())) {
    const path = join(testDataDirectory(), file);
    if (/^search-index-.*\.sqlite$/.test(file)) copyFileSync(path, join(directory, file));
  }
  return directory;
}

/** Runs `farebox index` on a third machine. */
async function index(...args: readonly string[]) {
  const env = { ...product.env, FAREBOX_DATA: join(product.parts.home, "machine-cli") };
  const { out, code } = await cliProcess(["index", ...args, "--json"], { env });
  return { code, ...JSON.parse(out) };
}

async function urls({ url }: Api, query: string): Promise<string[]> {
  const response = await fetch(`${url}/v1/search`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  if (!response.ok) return [];
  const { results } = (await response.json()) as { readonly results: { readonly url: string }[] };
  return results.map((one) => one.url);
}

async function readiness(api: Api) {
  const response = await fetch(`${api.url}/readyz`);
  return (await response.json()) as {
    readonly warnings: Readonly<Record<string, string>>;
    readonly versions: { readonly documents: number };
  };
}

const QUAGGA = "https://zoo.example/quagga";

async function bothFind(isThere: boolean): Promise<void> {
  await eventually(
    isThere ? "both find it" : "neither finds it",
    async () => {
      const found = await Promise.all(product.apis.map((api) => urls(api, "quagga")));
      return found.every((one) => one.includes(QUAGGA) === isThere);
    },
    WITHIN_MS,
  );
}

test("documents added on one machine are found by all, and gone from all", async () => {
  const path = join(product.parts.home, "zoo.jsonl");
  writeFileSync(path, JSON.stringify({ url: QUAGGA, title: "Quagga", text: "It is no zebra." }));
  expect(await index("add", path)).toMatchObject({ code: 0, documents: 1 });
  await bothFind(true);
  for (const api of product.apis) {
    // The copy is searched a moment before the process knows its version.
    const isKnown = async () => (await readiness(api)).versions.documents === 1;
    await eventually("it knows the version", isKnown, WITHIN_MS);
    expect((await readiness(api)).warnings).toEqual({});
    expect(await api.metric("farebox_documents_version")).toBe(1);
  }
  expect(await index("remove", path)).toMatchObject({ code: 0, documents: 1 });
  await bothFind(false);
});
