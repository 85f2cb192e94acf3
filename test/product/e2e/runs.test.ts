// Tests runs with two API processes and a worker: one budget over four services, exact in a race.

import { expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startFakeSearch } from "../../support/fakes/fake-search.ts";
import { ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { startProduct } from "../../support/product/product.ts";
import { atEnd, shared, sharedServer } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const places = sharedServer(() =>
  Response.json([{ lat: "52.5", lon: "13.4", display_name: "Berlin", place_id: 1 }]),
);
const searxng = startFakeSearch("searxng");
atEnd(async () => await searxng[Symbol.asyncDispose]());
const smtp = await shared(ScriptedSmtp.start());
const product = await shared(
  startProduct({
    apis: 2,
    models: [{ id: "ok" }, { id: "vectors", serves: "embedding" }],
    search: { providers: [{ kind: "searxng", base_url: searxng.baseUrl }] },
    maps: {
      providers: { places: { kind: "nominatim", base_url: `http://127.0.0.1:${places.port}` } },
      actions: { geocode: ["places"] },
    },
    env: { MAIL_DOMAIN: "mail.runs.test", MAIL_SMTP_URL: `${smtp.url}?tls=none` },
  }),
);
const MAX = "0.04";
const CALLS = 200;

interface RunJson {
  readonly state: string;
  readonly max_usd: number;
  readonly spent_usd: number;
  readonly held_usd: number;
  readonly left_usd: number;
  readonly services: readonly { service: string; cost_usd: number }[];
  readonly steps: readonly { step: string; calls: number; cost_usd: number }[];
}

/** Requests of each service, with holds that differ. */
const CALL_OF = {
  chat: (run: string) =>
    posted(run, "/v1/chat/completions", {
      model: "ok",
      messages: [{ role: "user", content: "Hello" }],
      max_tokens: 1_000,
    }),
  search: (run: string) => posted(run, "/v1/search", { query: "fares" }),
  maps: (run: string) => ({
    path: "/v1/maps?action=geocode&query=Berlin",
    init: { headers: { "x-svc-run": run } },
  }),
  mail: (run: string) =>
    posted(run, "/v1/mail/send", { to: "ada@example.test", subject: "Run", text: "A line." }),
} as const;
const SERVICES = Object.keys(CALL_OF) as (keyof typeof CALL_OF)[];

function posted(run: string, path: string, body: object) {
  return {
    path,
    init: { method: "POST", headers: { "x-svc-run": run }, body: JSON.stringify(body) },
  };
}

function send(
  { key }: Pick<TestAccount, "key">,
  { path, init }: { readonly path: string; readonly init: RequestInit },
  api = 0,
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  return fetch(`${product.api(api).url}${path}`, { ...init, headers });
}

async function readRun(account: TestAccount, id: string, api = 1): Promise<RunJson> {
  const reply = await send(account, { path: `/v1/runs/${id}`, init: {} }, api);
  expect(reply.status).toBe(200);
  return (await reply.json()) as RunJson;
}

const nanoOf = (usd: number | string | null) => Math.round(Number(usd) * 1e9);

test("200 parallel calls of four services at two processes never pass a run's amount", async () => {
  const account = await product.account({
    paid: "50",
    contract: "enterprise",
    scopes: ["models", "search", "maps", "mail"],
  });
  const replies = await Promise.all(
    Array.from({ length: CALLS }, async (_, index) => {
      const service = SERVICES[index % SERVICES.length] ?? "chat";
      const call = CALL_OF[service](`race; max-usd=${MAX}; step=${service}`);
      const reply = await send(account, call, (index >> 2) % 2);
      const { error } = (await reply.json()) as { error?: { code: string } };
      return { service, code: error?.code ?? null, cost: reply.headers.get("x-svc-cost-usd") };
    }),
  );
  const passed = replies.filter(({ code }) => code === null);
  const codes = replies.map(({ code }) => code);
  expect(codes).toContain("run_budget_exceeded");
  // On a busy machine a process may be too slow for some calls: those cost nothing.
  const others = [null, "run_budget_exceeded", "service_unavailable"];
  expect(codes.filter((code) => !others.includes(code))).toEqual([]);
  const charged = passed.reduce((sum, { cost }) => sum + nanoOf(cost), 0);
  expect(charged).toBeGreaterThan(0);
  expect(charged).toBeLessThanOrEqual(nanoOf(MAX));
  await eventually("every mail is settled", async () => {
    return (await readRun(account, "race")).held_usd === 0;
  });
  const run = await readRun(account, "race");
  expect([nanoOf(run.spent_usd), run.max_usd]).toEqual([charged, Number(MAX)]);
  const sumOf = (sums: readonly { readonly cost_usd: number }[]) =>
    sums.reduce((sum, { cost_usd }) => sum + nanoOf(cost_usd), 0);
  await eventually("every charge is logged", async () => {
    return sumOf((await readRun(account, "race", 0)).services) === charged;
  });
  // The other process may have sums of a moment ago.
  const { services, steps } = await readRun(account, "race", 0);
  for (const { service, cost_usd } of services) {
    const own = passed.filter((reply) => reply.service === service);
    expect(nanoOf(cost_usd)).toBe(own.reduce((sum, { cost }) => sum + nanoOf(cost), 0));
  }
  expect(sumOf(steps)).toBe(charged);
  const [row] = await product.operator.database.sql`
    SELECT sum(spent)::text AS spent FROM budget_spend
    WHERE account = ${account.row.number}`;
  expect(Number(row?.spent)).toBe(charged);
});

test("a run that one process pauses or raises is so for the other's next call", async () => {
  const account = await product.account({ paid: "5", contract: "enterprise" });
  const call = (run: string, api = 0) => send(account, CALL_OF.chat(run), api);
  expect((await call("turns; max-usd=0.0021")).status).toBe(200);
  expect((await call("turns", 1)).status).toBe(200);
  const change = (fields: object) => send(account, posted("", "/v1/runs/turns", fields), 0);
  expect(await (await change({ paused: true })).json()).toMatchObject({ state: "paused" });
  const refused = await call("turns", 1);
  expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([402, "false"]);
  expect(await refused.json()).toMatchObject({ error: { code: "run_paused" } });
  expect(await (await change({ paused: false, max_usd: "0.003" })).json()).toMatchObject({
    state: "active",
    max_usd: 0.003,
  });
  expect((await call("turns", 1)).status).toBe(200);
});
