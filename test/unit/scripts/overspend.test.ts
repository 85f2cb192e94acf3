// Tests the overspend test of docs/overspend.md on gateways that are known to be wrong: a test that
// finds nothing anywhere would prove nothing.

import { expect, test } from "bun:test";
import { GATEWAYS, type GatewayName, readSpend } from "../../../scripts/overspend/gateways.ts";
import { MODEL, startModelServer } from "../../../scripts/overspend/model-server.ts";
import { faultsOf, KILLED_AT, runTrial, type Trial } from "../../../scripts/overspend/trial.ts";
import { nano, usd } from "../../../src/core/money/money.ts";

const CENTS = 10;

interface FakeGateway extends AsyncDisposable {
  readonly url: string;
  /** Forgets the charges that it has not written down, as a process that is killed. */
  readonly forget: () => void;
}

/** Charges after each answer in memory, and writes to disk never, at once, or beforehand. */
function startGateway(upstream: string, way: "checks first" | "holds"): FakeGateway {
  let balanceCents = 100;
  let spentCents = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/key/info") return Response.json({ info: { spend: spentCents / 100 } });
      if (pathname.endsWith("/models")) return Response.json({ data: [] });
      const body = await request.text();
      const { max_tokens } = JSON.parse(body) as { max_tokens: number };
      const cents = max_tokens / CENTS;
      const refusal = { error: { code: "insufficient_quota" } };
      if (balanceCents < cents) return Response.json(refusal, { status: 402 });
      if (way === "holds") balanceCents -= cents;
      const reply = await fetch(`${upstream}/chat/completions`, { method: "POST", body });
      if (way === "checks first") balanceCents -= cents;
      spentCents += cents;
      return reply;
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    forget: () => {
      balanceCents += spentCents;
      spentCents = 0;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function trialAt({ url }: FakeGateway, more: Partial<Trial> = {}): Trial {
  const spend = { gateway: "litellm", url, spendUrl: null, token: "k", lateMs: 1 } as const;
  const terms = { urls: [url], key: "k", calls: 60, cents: [CENTS], user: null, kill: null };
  return { ...terms, balance: usd("1"), spend, ...more };
}

test("a gateway that checks the balance and charges after the answer is found out", async () => {
  await using server = startModelServer();
  await using gateway = startGateway(server.baseUrl, "checks first");
  const result = await runTrial(trialAt(gateway));
  expect(result.answered).toHaveLength(60);
  expect(faultsOf(result)).toEqual([
    "answers worth $6.00 for a balance of $1.00",
    "$5.00 were charged beyond the balance",
  ]);
});

test("a gateway that forgets its answers at a kill is found out", async () => {
  await using server = startModelServer();
  await using gateway = startGateway(server.baseUrl, "holds");
  const kill = async () => gateway.forget();
  const result = await runTrial(trialAt(gateway, { kill }));
  expect(result.wasKilled).toBe(true);
  expect(result.answered.length).toBe(2 * KILLED_AT);
  expect(faultsOf(result)).toEqual([
    "answers worth $2.00 for a balance of $1.00",
    "$1.00 were never charged",
  ]);
});

test("a gateway that holds the price of each open call is faultless", async () => {
  await using server = startModelServer();
  await using gateway = startGateway(server.baseUrl, "holds");
  const result = await runTrial(trialAt(gateway, { cents: [10, 30] }));
  expect(faultsOf(result)).toEqual([]);
  expect(result.refused).toEqual({ "402 insufficient_quota": 60 - result.answered.length });
});

test("without a way to read spending, answers beyond the balance are still found", async () => {
  await using server = startModelServer();
  await using gateway = startGateway(server.baseUrl, "checks first");
  const result = await runTrial(trialAt(gateway, { spend: null, calls: 11 }));
  expect(faultsOf(result)).toEqual(["answers worth $1.10 for a balance of $1.00"]);
});

/** The answer of each gateway about $0.30, in the form that its documentation shows. */
const ANSWERS = {
  farebox: ["/v1/me", { month: { spent_usd: 0.3 } }],
  litellm: ["/key/info", { key: "k", info: { spend: 0.30000000000000004 } }],
  "one-api": ["/v1/dashboard/billing/usage", { object: "list", total_usage: 30 }],
  "llm-gateway": ["/keys/api", { apiKeys: [{ usage: "0.1" }, { usage: "0.20" }] }],
  openrouter: ["/v1/key", { data: { label: "sk-or", usage: 0.3, limit: 1 } }],
} as const satisfies Record<GatewayName, readonly [string, object]>;

test.each(Object.keys(GATEWAYS) as GatewayName[])("reads spending of %s", async (gateway) => {
  const [path, answer] = ANSWERS[gateway];
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      new URL(request.url).pathname === path && request.headers.get("authorization") === "Bearer t"
        ? Response.json(answer)
        : Response.json({ error: "wrong" }, { status: 404 }),
  });
  const url = `http://127.0.0.1:${server.port}/v1`;
  const source = { gateway, url, spendUrl: null, token: "t", lateMs: 0 };
  expect(await readSpend(source)).toBe(nano(300_000_000n));
  await expect(readSpend({ ...source, token: "x" })).rejects.toThrow(/404 without an amount/);
});

test("reads the spending of a customer of LiteLLM at the address that is given", async () => {
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => Response.json({ spend: request.url.endsWith("?end_user_id=c") ? 0.5 : 9 }),
  });
  const root = `http://127.0.0.1:${server.port}`;
  const spendUrl = `${root}/customer/info?end_user_id=c`;
  const source = {
    gateway: "litellm",
    url: `${root}/v1`,
    spendUrl,
    token: "t",
    lateMs: 0,
  } as const;
  expect(await readSpend(source)).toBe(usd("0.5"));
});

test("the model server reports the tokens that the caller allowed, also in a stream", async () => {
  await using server = startModelServer();
  const ask = (more: object) =>
    fetch(`${server.baseUrl}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: MODEL, max_tokens: 300, messages: [], ...more }),
    });
  const usage = { prompt_tokens: 10, completion_tokens: 300, total_tokens: 310 };
  expect(await (await ask({})).json()).toMatchObject({ usage });
  expect(await (await ask({ stream: true })).text()).toContain(JSON.stringify(usage));
});
