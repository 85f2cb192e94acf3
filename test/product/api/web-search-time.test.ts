// The time of a response whose model searches: its 15 minutes, the signs of life between its
// rounds, its waits for a full window, and the minute for a caller who left.

import { beforeEach, describe, expect, test } from "bun:test";
import { keyStateKey } from "../../../actors/records/keys.ts";
import { nano, usd } from "../../../src/core/money/money.ts";
import { until } from "../../support/api/api-world.ts";
import {
  FORMS,
  inForm,
  later,
  ROUND_COST,
  readResponse,
  SEARCH_COST,
  saying,
  searchBody,
  searching,
  searchLater,
  searchToolWorld,
  WAYS,
} from "../../support/api/search-tool-world.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import type { QueuedReply } from "../../support/fakes/wire/wire-server.ts";
import { closedGate } from "../../support/gate.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

/** Remembers the delays of all timers. */
class NotedClock extends FakeClock {
  readonly delays: number[] = [];

  override after(delayMs: number, run: () => void): () => void {
    this.delays.push(delayMs);
    return super.after(delayMs, run);
  }
}

const clock = new NotedClock();
const world = await searchToolWorld(clock);
const { api, server, finder, payer } = world;

beforeEach(() => {
  clock.delays.length = 0;
});

const [CHAT] = FORMS;
const MINUTE_MS = 60_000;
const LIMIT_MS = 15 * MINUTE_MS;
const KEEP_ALIVE_MS = 15_000;

/** The amount that the account was charged, with every call settled. */
async function spentBy(account: TestAccount): Promise<number> {
  return Number(nano(usd("5") - (await world.paidOf(account)))) / 1e9;
}

/** Reads a stream as it comes. */
function reading(answer: Response) {
  const reader = answer.body?.getReader();
  let text = "";
  const rest = (async () => {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return text;
      text += new TextDecoder().decode(value);
    }
  })();
  const count = (event: string) => text.split(`event: ${event}\n`).length - 1;
  return { rest, count, has: (part: string) => text.includes(part) };
}

describe("a response ends 15 minutes after its begin", () => {
  test.each(WAYS)("between its rounds ($model, streamed: $stream)", async (way) => {
    const { form, stream, model } = way;
    const account = await payer();
    const gate = closedGate();
    searchLater(world, gate);
    server.queue(inForm(form, searching("fares")), inForm(form, saying("Never asked for.")));
    const asking = world.post(account, searchBody(model, { stream }));
    await until(() => gate.arrivals === 1, "the search was asked for");
    clock.advance(LIMIT_MS);
    gate.open();
    const { response } = await readResponse(await asking);
    expect(response).toMatchObject({ status: "failed", error: { code: "upstream_unreachable" } });
    expect(response.error?.message).toContain("15 minutes");
    expect(server.requests).toHaveLength(1);
    expect(response.svc.cost_usd).toBeCloseTo(ROUND_COST + SEARCH_COST, 9);
    expect(await spentBy(account)).toBeCloseTo(ROUND_COST + SEARCH_COST, 9);
  });

  test("within a later round, whose begin counts for nothing", async () => {
    const account = await payer();
    const gate = closedGate();
    searchLater(world, gate);
    const hanging: QueuedReply = (request) => {
      const whole = inForm(CHAT, saying("Four", " coins"))(request);
      return { ...whole, body: whole.body.slice(0, 2), end: "hang" };
    };
    server.queue(inForm(CHAT, searching("fares")), hanging);
    const answer = world.post(account, searchBody(CHAT.model, { stream: true }));
    await until(() => gate.arrivals === 1, "the search was asked for");
    clock.advance(LIMIT_MS - MINUTE_MS);
    gate.open();
    const stream = reading(await answer);
    await until(() => stream.has('"Four"'), "the second round has begun");
    clock.advance(MINUTE_MS);
    const text = await stream.rest;
    expect(stream.count("response.failed")).toBe(1);
    expect(text).toContain("15 minutes");
    expect(await spentBy(account)).toBeGreaterThan(ROUND_COST + SEARCH_COST);
  });
});

test("a stream has a sign of life every 15 seconds while it searches and asks again", async () => {
  const account = await payer();
  const [searched, answered] = [closedGate(), closedGate()];
  searchLater(world, searched);
  server.queue(inForm(CHAT, searching("fares")), later(answered, CHAT, saying("Four.")));
  const stream = reading(await world.post(account, searchBody(CHAT.model, { stream: true })));
  let signs = 1;
  for (const gate of [searched, answered]) {
    await until(() => gate.arrivals === 1, "the response waits");
    for (let at = 0; at < 2; at++) {
      clock.delays.length = 0;
      clock.advance(KEEP_ALIVE_MS);
      signs += 1;
      await until(() => stream.count("response.in_progress") === signs, "it lives");
      await until(() => clock.delays.includes(KEEP_ALIVE_MS), "the next sign is due");
    }
    gate.open();
  }
  await stream.rest;
  expect(stream.count("response.completed")).toBe(1);
  expect(await spentBy(account)).toBeCloseTo(2 * ROUND_COST + SEARCH_COST, 9);
});

describe("a full window", () => {
  /** Searches, and forgets the timers with which every request begins. */
  const searchingIn = (form: (typeof FORMS)[number]): QueuedReply => {
    return (request) => {
      clock.delays.length = 0;
      return inForm(form, searching("fares"))(request);
    };
  };
  const isWaiting = () => clock.delays.some((ms) => ms >= 50_000 && ms <= MINUTE_MS);
  const waits = () => until(() => server.requests.length > 0 && isWaiting(), "a call waits");

  /** Lets the window of a key be over once a call waits for that. */
  const passMinute = async (account: TestAccount) => {
    await waits();
    clock.delays.length = 0;
    await api.parts.stores.redis.del(keyStateKey(account.row.bucket, account.keyId));
    clock.advance(MINUTE_MS);
  };

  test.each(WAYS)("keeps a search waiting ($model, streamed: $stream)", async (way) => {
    const { form, stream, model } = way;
    const account = await payer({ requestsPerMinute: 1 });
    server.queue(searchingIn(form), inForm(form, saying("Four.")));
    const asking = world.post(account, searchBody(model, { stream }));
    // First the search finds no place, then the round after it.
    await passMinute(account);
    await until(() => finder.questions.length > 0, "the search was made");
    await passMinute(account);
    const { response } = await readResponse(await asking);
    expect(response.status).toBe("completed");
    expect(response.svc.ignored).toBeUndefined();
    expect(await spentBy(account)).toBeCloseTo(2 * ROUND_COST + SEARCH_COST, 9);
  });

  test("leaves the round the limit that is payable after the wait", async () => {
    for (const stream of [false, true]) {
      server.requests.length = 0;
      const account = await payer({ requestsPerMinute: 1 });
      server.queue(searchingIn(CHAT), inForm(CHAT, saying("Four.")));
      const asking = world.post(account, searchBody("long-test", { stream }));
      await passMinute(account);
      await waits();
      const adjustment = { kind: "adjustment", reason: "spent", reference: null } as const;
      const amount = nano(-4_900_000_000n);
      await api.parts.stores.accounts.adjust(account.row, { ...adjustment, amount });
      await account.actor.applyOperations();
      await passMinute(account);
      const { response } = await readResponse(await asking);
      expect(response).toMatchObject({ status: "completed", error: null });
      const limits = server.requests.map(({ body }) => Number(body.max_tokens));
      expect(limits[0]).toBe(90_000);
      expect(limits[1]).toBeWithin(10_500, 11_600);
      expect(await spentBy(account)).toBeCloseTo(4.9 + 2 * ROUND_COST + SEARCH_COST, 9);
    }
  });

  test("is not waited for once search is paused", async () => {
    const account = await payer({ requestsPerMinute: 1 });
    server.queue(searchingIn(CHAT), inForm(CHAT, saying("No idea.")));
    const asking = world.post(account, searchBody(CHAT.model));
    await waits();
    api.paused.add("search");
    await passMinute(account);
    const { response } = await readResponse(await asking);
    expect(response.svc.ignored).toEqual(["tools: web_search (Search is paused)"]);
    expect(finder.questions).toEqual([]);
    expect(await spentBy(account)).toBeCloseTo(2 * ROUND_COST, 9);
  });

  test("stops waiting when its caller has left", async () => {
    const account = await payer({ requestsPerMinute: 1 });
    server.queue(searchingIn(CHAT), inForm(CHAT, saying("Never asked for.")));
    const leaving = new AbortController();
    const asking = world
      .post(account, searchBody(CHAT.model), { signal: leaving.signal })
      .catch(() => null);
    await waits();
    leaving.abort();
    await asking;
    await until(() => api.pendingRequests === 0, "the request is over");
    expect(await spentBy(account)).toBeCloseTo(ROUND_COST, 9);
    expect([server.requests.length, finder.questions.length]).toEqual([1, 0]);
  });
});

test("a caller with a key who left is waited for once, in whichever round", async () => {
  const account = await payer();
  const never = closedGate();
  server.queue(inForm(CHAT, searching("fares")), later(never, CHAT, saying("Never.")));
  const leaving = new AbortController();
  const headers = { "idempotency-key": "left-1" };
  const asking = world
    .post(account, searchBody(CHAT.model), { headers, signal: leaving.signal })
    .catch(() => null);
  await until(() => never.arrivals === 1, "the second round was asked for");
  // From then on the round listens to the signal of the response.
  clock.advance(250);
  clock.delays.length = 0;
  leaving.abort();
  await asking;
  await until(() => clock.delays.includes(MINUTE_MS), "the service heard of it");
  clock.advance(MINUTE_MS - 1);
  expect(api.openCalls).toBeGreaterThan(0);
  clock.advance(1);
  const spent = await spentBy(account);
  const entries = await api.journal(account);
  const [round] = entries.filter(({ end }) => end?.status === 499 && end.promptTokens !== null);
  expect(round?.end?.completionTokens).toBe(0);
  const prompt = Number(round?.end?.promptTokens) / 1e6;
  expect(prompt).toBeGreaterThan(0);
  expect(spent).toBeCloseTo(ROUND_COST + SEARCH_COST + prompt, 9);
});
