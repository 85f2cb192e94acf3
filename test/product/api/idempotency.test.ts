// Tests repeats of calls with an Idempotency-Key: on every endpoint that costs money, a call is
// charged once, and answered again only for its own caller.

import { beforeEach, describe, expect, test } from "bun:test";
import { IDEMPOTENCY } from "../../../src/core/access/limits.ts";
import { SCOPES } from "../../../src/core/access/services.ts";
import type { Expiring } from "../../../src/core/deadlines.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { usd } from "../../../src/core/money/money.ts";
import { exampleTarget } from "../../../src/http/docs/docs-page.ts";
import { isRepeatable } from "../../../src/http/idempotency.ts";
import { DOCUMENTED } from "../../../src/routes.ts";
import { ApiWorld, chatBody, costOf, errorOf, until } from "../../support/api/api-world.ts";
import { EXAMPLE_CATALOGUE } from "../../support/api/example-models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { endBatch, textBatch } from "../../support/fakes/scripted-chat.ts";
import { closedGate } from "../../support/gate.ts";
import { createTestKey, type TestAccount } from "../../support/stores/accounts.ts";

const api: ApiWorld = await sharedApi({ catalogue: () => EXAMPLE_CATALOGUE });

/** The cost of a call that the scripted model answers with its usual usage. */
const COST = costOf(10, 5);

let account: TestAccount;
beforeEach(async () => {
  account = await api.account({ contract: "enterprise", paid: "100", scopes: SCOPES });
});

const keyed = (key: string) => ({ headers: { "idempotency-key": key } });

function chat(key: string, fields: object = {}, of: Pick<TestAccount, "key"> = account) {
  return api.post(of, chatBody(fields), keyed(key));
}

function isReplay({ headers }: Response): boolean {
  return headers.get("idempotent-replayed") === "true";
}

async function codeOf(response: Response): Promise<string> {
  return (await errorOf(response)).code;
}

async function spent(of: TestAccount = account): Promise<bigint> {
  return (await api.view(of)).monthSpent;
}

describe("a repeat", () => {
  test("gets the first answer byte for byte, says so, and costs nothing", async () => {
    const first = await chat("order-1");
    expect(isReplay(first)).toBe(false);
    const text = await first.text();
    const before = Number(first.headers.get("x-ratelimit-remaining-requests"));
    const repeat = await chat("order-1");
    expect(await repeat.text()).toBe(text);
    expect([repeat.status, isReplay(repeat)]).toEqual([200, true]);
    expect(repeat.headers.get("x-svc-cost-usd")).toBe("0");
    expect(repeat.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    // The repeat counts as a request.
    expect(Number(repeat.headers.get("x-ratelimit-remaining-requests"))).toBe(before - 1);
    expect(api.chat.requests).toHaveLength(1);
    expect(await spent()).toBe(COST);
    const calls = (await api.journal(account)).filter(({ type }) => type === "call");
    expect(calls.map(({ end }) => end?.status)).toEqual([200, 200]);
  });

  test("without a key is a call of its own", async () => {
    await (await api.post(account, chatBody())).text();
    const second = await api.post(account, chatBody());
    expect(isReplay(second)).toBe(false);
    expect(await spent()).toBe(2n * COST);
  });

  test("is answered although nothing more may be spent by then", async () => {
    const poor = await api.account({ paid: "0.1" });
    const first = await (await chat("last", {}, poor)).text();
    await api.change(poor, { ownCap: COST });
    const repeat = await chat("last", {}, poor);
    expect([await repeat.text(), isReplay(repeat)]).toEqual([first, true]);
    expect(await codeOf(await chat("another", {}, poor))).toBe("monthly_limit_reached");
  });

  test("with another body, path or query is refused, and changes nothing", async () => {
    await (await chat("order-1")).text();
    const other = await chat("order-1", { temperature: 1 });
    expect([other.status, other.headers.get("x-should-retry")]).toEqual([422, "false"]);
    expect(await codeOf(other)).toBe("idempotency_key_mismatch");
    const search = await api.postTo("/v1/search", account, { query: "x" }, keyed("order-1"));
    expect(await codeOf(search)).toBe("idempotency_key_mismatch");
    expect(isReplay(await chat("order-1"))).toBe(true);
    expect(await spent()).toBe(COST);
  });

  test.each([
    ["x-svc-run", "nightly-7; max-usd=2.00", "nightly-8; max-usd=2.00"],
    ["x-svc-run", "nightly-7; max-usd=2.00; step=plan", "nightly-7; max-usd=2.00; step=write"],
    ["x-svc-max-cost-usd", "1", "0.5"],
    ["x-svc-end-user", "customer-1", "customer-2"],
  ])("with another %s is refused, whether the answer is kept or not", async (name, one, other) => {
    const send = (value: string | null) => {
      const more = value === null ? {} : { [name]: value };
      const { headers } = keyed("order-1");
      return api.post(account, chatBody(), { headers: { ...headers, ...more } });
    };
    const first = await (await send(one)).text();
    for (const value of [other, null]) {
      const refused = await send(value);
      expect([refused.status, await codeOf(refused)]).toEqual([422, "idempotency_key_mismatch"]);
    }
    const repeat = await send(one);
    expect([await repeat.text(), isReplay(repeat)]).toEqual([first, true]);
    // The first call by another key has none of these headers, and its repeat has one.
    const plain = keyed("order-2");
    await (await api.post(account, chatBody(), plain)).text();
    const named = { headers: { ...plain.headers, [name]: one } };
    expect(await codeOf(await api.post(account, chatBody(), named))).toBe(
      "idempotency_key_mismatch",
    );
    expect(await spent()).toBe(2n * COST);
  });

  test("while the first request runs is told to come again", async () => {
    const gate = closedGate();
    const { reply } = api.chat;
    api.chat.reply = async (...given) => {
      await gate.pass();
      return reply(...given);
    };
    const first = chat("order-1");
    await until(() => api.chat.requests.length === 1, "the first request reached the model");
    const repeat = await chat("order-1");
    expect(repeat.status).toBe(409);
    expect(repeat.headers.get("retry-after")).toBe("1");
    expect(repeat.headers.get("x-should-retry")).toBe("true");
    expect(await codeOf(repeat)).toBe("idempotency_in_progress");
    gate.open();
    const text = await (await first).text();
    expect(await (await chat("order-1")).text()).toBe(text);
  });

  test("of 100 at once, one is charged; the others get its answer or must wait", async () => {
    const all = await Promise.all(Array.from({ length: 100 }, () => chat("hundred")));
    const fresh = all.filter((one) => one.status === 200 && !isReplay(one));
    expect(fresh).toHaveLength(1);
    for (const one of all) expect([200, 409]).toContain(one.status);
    expect(api.chat.requests).toHaveLength(1);
    expect(await spent()).toBe(COST);
  });

  test("of a stream is refused with the receipt of the first", async () => {
    api.chat.batches = async function* () {
      yield textBatch("Hello");
      yield endBatch({ promptTokens: 10, cachedTokens: 0, completionTokens: 5 });
    };
    const first = await chat("stream", { stream: true });
    const id = first.headers.get("x-request-id");
    await first.text();
    const repeat = await chat("stream", { stream: true });
    expect([repeat.status, repeat.headers.get("x-should-retry")]).toEqual([409, "false"]);
    const { code, message } = await errorOf(repeat);
    expect(code).toBe("idempotency_already_charged");
    expect(message).toContain(`/v1/receipts/${id}`);
    await api.parts.stores.flush();
    expect((await api.get(`/v1/receipts/${id}`, account)).status).toBe(200);
    expect(api.chat.requests).toHaveLength(1);
  });

  test("of an answer over 256 KiB is refused with the receipt of the first", async () => {
    const content = "x".repeat(IDEMPOTENCY.answerBytesMax);
    const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
    const message = { role: "assistant", content } as const;
    api.chat.reply = async () => ({
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage,
    });
    const first = await chat("long");
    const id = first.headers.get("x-request-id");
    await first.text();
    const { code, message: words } = await errorOf(await chat("long"));
    expect(code).toBe("idempotency_already_charged");
    expect(words).toContain(String(id));
  });

  test("after ten minutes is refused with a receipt that has the cost of the first", async () => {
    const ends: Expiring[] = [];
    const deadline = (limitMs: number, owner: Expiring) => {
      if (limitMs === IDEMPOTENCY.answerMs) ends.push(owner);
      return realClock.deadline(limitMs, owner);
    };
    await using other = await ApiWorld.start({ clock: { ...realClock, deadline } });
    for (const surface of ["gateway", "application"] as const) {
      const plan = surface === "application" ? ({ plan: "max" } as const) : {};
      const payer = await other.account({ surface, ...plan, paid: "9" });
      const path = surface === "gateway" ? "/v1" : "/api/v1";
      const send = () =>
        other.postTo(`${path}/chat/completions`, payer, chatBody(), keyed("order-1"));
      const id = (await send()).headers.get("x-request-id");
      expect(isReplay(await send())).toBe(true);
      for (const owner of ends.splice(0)) owner.expire();
      const { code, message } = await errorOf(await send());
      expect(code).toBe("idempotency_already_charged");
      expect(message).toContain(`/v1/receipts/${id}`);
      await other.parts.stores.flush();
      const receipt = await other.get(`/v1/receipts/${id}`, payer);
      const { claims } = (await receipt.json()) as { claims: { receipt: { cost_usd: string } } };
      expect(usd(claims.receipt.cost_usd)).toBe(COST);
      expect((await other.view(payer)).monthSpent).toBe(COST);
    }
  });

  test("with another API key of the account never gets the answer", async () => {
    await (await chat("order-1")).text();
    const terms = { scopes: SCOPES };
    const { secret } = await createTestKey(api.parts.stores.accounts, account.row, terms);
    await account.actor.configure();
    const repeat = await chat("order-1", {}, { key: secret });
    expect(await codeOf(repeat)).toBe("idempotency_already_charged");
  });

  test("by another account is a call of its own", async () => {
    await (await chat("order-1")).text();
    const other = await api.account({ paid: "5" });
    const second = await chat("order-1", {}, other);
    expect([second.status, isReplay(second)]).toEqual([200, false]);
    expect(await spent(other)).toBe(COST);
  });
});

describe("a call that was not charged frees its key", () => {
  test("after a failure of the provider", async () => {
    const { reply } = api.chat;
    api.chat.reply = () => Promise.reject(new ApiError("upstream_unreachable", "Nobody is there"));
    expect(await codeOf(await chat("again"))).toBe("upstream_unreachable");
    api.chat.reply = reply;
    expect((await chat("again", { temperature: 1 })).status).toBe(200);
    expect(await spent()).toBe(COST);
  });

  test("after refusals for its body, its cost and its money", async () => {
    const refused = [
      await api.post(account, "{", keyed("again")),
      await api.post(account, chatBody(), {
        headers: { "idempotency-key": "again", "x-svc-max-cost-usd": "0.000000001" },
      }),
    ];
    const codes = await Promise.all(refused.map(codeOf));
    expect(codes).toEqual(["invalid_json", "max_cost_exceeded"]);
    await api.change(account, { ownCap: usd("0.000001") });
    expect(await codeOf(await chat("again"))).toBe("monthly_limit_reached");
    await api.change(account, { ownCap: null });
    expect((await chat("again")).status).toBe(200);
  });
});

describe("the checks of a call come before its replay", () => {
  test("a revoked key gets no answer", async () => {
    await (await chat("order-1")).text();
    await api.revoke(account);
    expect(await codeOf(await chat("order-1"))).toBe("invalid_api_key");
  });

  const takenAway = [
    ["its address", "ip_allowlist = ARRAY['192.0.2.0/24']", "ip_not_allowed"],
    ["the scope", "scopes = ARRAY['mail']", "insufficient_scope"],
    ["the model", "models = ARRAY['other-*']", "model_not_allowed"],
    ["its use", "disabled_at = now()", "invalid_api_key"],
    ["its time", "ends_at = now() - interval '1 second'", "invalid_api_key"],
  ] as const;
  for (const [what, change, code] of takenAway) {
    test(`a key that lost ${what} since then gets no answer`, async () => {
      const first = await (await chat("order-1")).text();
      expect(isReplay(await chat("order-1"))).toBe(true);
      const { sql } = api.parts.stores.database;
      await sql.unsafe(`UPDATE keys SET ${change} WHERE id = $1`, [account.keyId]);
      await sql`UPDATE accounts SET version = version + 1 WHERE id = ${account.id}`;
      await account.actor.configure();
      const repeat = await chat("order-1");
      const text = await repeat.text();
      expect(text).not.toBe(first);
      expect(JSON.parse(text).error.code).toBe(code);
      expect(await spent()).toBe(COST);
    });
  }

  test("neither does a suspended account, nor a paused service", async () => {
    await (await chat("order-1")).text();
    api.paused.add("chat");
    expect(await codeOf(await chat("order-1"))).toBe("model_unavailable");
    api.paused.clear();
    await api.change(account, { state: "suspended" });
    expect(await codeOf(await chat("order-1"))).toBe("account_inactive");
  });

  test("a full window refuses a repeat as it refuses any request", async () => {
    const few = await api.account({ paid: "5" });
    await (await chat("order-1", {}, few)).text();
    const codes = new Set<number>();
    for (let n = 0; n < 70; n += 1) codes.add((await chat("order-1", {}, few)).status);
    expect(codes).toEqual(new Set([200, 429]));
  });
});

test("a key of other characters or of more than 255 is refused", async () => {
  for (const key of ["é", "x".repeat(IDEMPOTENCY.keyCharactersMax + 1)]) {
    const { code, message } = await errorOf(await chat(key));
    expect(code).toBe("invalid_parameter");
    expect(message).toContain("Idempotency-Key");
  }
  expect((await chat("x".repeat(IDEMPOTENCY.keyCharactersMax))).status).toBe(200);
});

test("no text of an answer or a key is in Redis or Postgres", async () => {
  const canary = "canary-answer-93";
  const message = { role: "assistant", content: canary } as const;
  const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
  api.chat.reply = async () => ({
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
  });
  const secret = "canary-key-93";
  for (let n = 0; n < 2; n += 1) expect(await (await chat(secret)).text()).toContain(canary);
  await api.parts.stores.flush();
  const { redis, database } = api.parts.stores;
  const dumps = await Promise.all((await redis.keys("*")).map((key) => redis.dumpBuffer(key)));
  const names = (await redis.keys("*")).join(" ");
  const stored = Buffer.concat(dumps.flatMap((one) => one ?? [])).toString("latin1") + names;
  expect(stored.length).toBeGreaterThan(1_000);
  expect(stored).not.toContain("canary-");
  const tables = await database.sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
  for (const { name } of tables) {
    const rows = await database.sql.unsafe(`SELECT t::text AS row FROM "${name}" t`);
    expect(JSON.stringify(rows)).not.toContain("canary-");
  }
});

describe("every endpoint that costs money", () => {
  const accounts: Partial<Record<string, TestAccount>> = {};
  beforeEach(async () => {
    accounts.gateway ??= account;
    accounts.application ??= await api.account({ surface: "application", plan: "max", paid: "9" });
  });
  for (const one of [...DOCUMENTED.gateway, ...DOCUMENTED.application]) {
    if (!isRepeatable(one)) continue;
    test(`${one.method} ${one.path} charges a repeated example once`, async () => {
      const of = accounts[one.surface ?? ""];
      if (of === undefined) throw new Error("There is no account");
      for (const [n, example] of one.examples.entries()) {
        const send = () =>
          fetch(api.parts.url + exampleTarget(one, example), {
            method: one.method,
            headers: {
              authorization: `Bearer ${of.key}`,
              ...example.headers,
              "idempotency-key": `${one.id} ${n}`,
            },
            ...(example.body !== undefined && { body: JSON.stringify(example.body) }),
          });
        const before = await spent(of);
        const first = await send();
        const text = await first.text();
        expect([first.status, isReplay(first)]).toEqual([200, false]);
        const charged = await spent(of);
        expect(charged).toBeGreaterThan(before);
        const repeat = await send();
        const isStream = first.headers.get("content-type")?.startsWith("text/event-stream");
        if (isStream === true) {
          expect(await codeOf(repeat)).toBe("idempotency_already_charged");
        } else {
          expect([repeat.status, isReplay(repeat)]).toEqual([200, true]);
          expect(repeat.headers.get("content-type")).toBe(first.headers.get("content-type"));
          expect(await repeat.text()).toBe(text);
        }
        expect(await spent(of)).toBe(charged);
      }
    });
  }
});

test("a tool call of an agent can carry a key, in the header of its request", async () => {
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "search", arguments: { query: "fares" } },
  };
  const send = () =>
    fetch(`${api.parts.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${account.key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "idempotency-key": "tool-1",
      },
      body: JSON.stringify(message),
    });
  const first = await (await send()).text();
  const charged = await spent();
  expect(charged).toBeGreaterThan(0n);
  expect(await (await send()).text()).toBe(first);
  expect(await spent()).toBe(charged);
});
