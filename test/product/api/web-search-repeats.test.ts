// Repeats of a response whose model searches: whatever happens between its calls, a request with an
// idempotency key is charged once, and its caller can get the answer.

import { describe, expect, test } from "bun:test";
import { limitKey, markerKey } from "../../../actors/records/keys.ts";
import { IDEMPOTENCY } from "../../../src/core/access/limits.ts";
import { usd } from "../../../src/core/money/money.ts";
import { errorOf, until } from "../../support/api/api-world.ts";
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
} from "../../support/api/search-tool-world.ts";
import type { QueuedReply } from "../../support/fakes/wire/wire-server.ts";
import { closedGate } from "../../support/gate.ts";

const world = await searchToolWorld();
const { api, server, finder, payer, paidOf } = world;
const [CHAT] = FORMS;
const headers = { "idempotency-key": "search-1" };

const bodyOf = (more: object = {}) => searchBody(CHAT.model, more);

describe("a repeat", () => {
  for (const stream of [false, true]) {
    const way = stream ? "streamed" : "whole";

    test(`waits until the last call of the response has ended (${way})`, async () => {
      const account = await payer();
      const [searched, answered] = [closedGate(), closedGate()];
      searchLater(world, searched);
      server.queue(inForm(CHAT, searching("fares")), later(answered, CHAT, saying("Four.")));
      const body = bodyOf({ stream });
      const asking = world.post(account, body, { headers });
      for (const gate of [searched, answered]) {
        await until(() => gate.arrivals === 1, "the response goes on");
        const early = await world.post(account, body, { headers });
        expect(early.headers.get("retry-after")).toBe("1");
        expect((await errorOf(early)).code).toBe("idempotency_in_progress");
        gate.open();
      }
      const { response } = await readResponse(await asking);
      expect(response.svc.cost_usd).toBeCloseTo(2 * ROUND_COST + SEARCH_COST, 9);
      const again = await world.post(account, body, { headers });
      if (stream) {
        const { code, message } = await errorOf(again);
        expect(code).toBe("idempotency_already_charged");
        for (const { request_id } of response.svc.calls ?? [])
          expect(message).toContain(request_id);
      } else expect((await readResponse(again)).response.id).toBe(response.id);
      expect(await paidOf(account)).toBe(usd("4.998952"));
    });
  }

  test("gets the answer of a caller whose connection dropped", async () => {
    for (const place of ["search", "round"] as const) {
      const account = await payer();
      const gate = closedGate();
      if (place === "search") searchLater(world, gate);
      else finder.answer = null;
      const last =
        place === "search" ? inForm(CHAT, saying("Four.")) : later(gate, CHAT, saying("Four."));
      server.queue(inForm(CHAT, searching("fares")), last);
      const leaving = new AbortController();
      const gone = world
        .post(account, bodyOf(), { headers, signal: leaving.signal })
        .then((answer) => answer.text())
        .catch(() => "");
      await until(() => gate.arrivals === 1, "the response goes on");
      leaving.abort();
      await gone;
      gate.open();
      expect(await paidOf(account)).toBe(usd("4.998952"));
      const again = await world.post(account, bodyOf(), { headers });
      const { response } = await readResponse(again);
      expect(response.status).toBe("completed");
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(await paidOf(account)).toBe(usd("4.998952"));
    }
  });

  test("gets no stored failure, because the failure may be over", async () => {
    const account = await payer();
    const broken: QueuedReply = () => ({ status: 500, body: ["{}"] });
    server.queue(inForm(CHAT, searching("fares")), broken, broken, broken);
    const first = await world.post(account, bodyOf(), { headers });
    const { response } = await readResponse(first);
    expect(response.status).toBe("failed");
    const { code, message } = await errorOf(await world.post(account, bodyOf(), { headers }));
    expect(code).toBe("idempotency_already_charged");
    for (const { request_id } of response.svc.calls ?? []) expect(message).toContain(request_id);
  });
});

test("a key stays in progress for as long as the last round of its response may take", async () => {
  for (const { stream, minutes } of [
    { stream: true, minutes: 15 },
    { stream: false, minutes: 30 },
  ]) {
    const account = await payer();
    const gate = closedGate();
    searchLater(world, gate);
    server.queue(inForm(CHAT, searching("fares")), inForm(CHAT, saying("Four.")));
    const asking = world.post(account, bodyOf({ stream }), { headers });
    await until(() => gate.arrivals > 0, "the first round was charged");
    const { redis } = api.parts.stores;
    const keys = await redis.keys(markerKey(account.row.bucket, "*"));
    const records = await Promise.all(keys.map((key) => redis.getBuffer(key)));
    const [entry] = await api.journal(account);
    const record = records.find((one) => one?.includes(String(entry?.request)));
    // The state is the third number: the end of the response (markers.lua).
    const leftMs = (record?.readDoubleLE(16) ?? 0) - Date.now();
    expect(leftMs).toBeGreaterThan(minutes * 60_000);
    expect(leftMs).toBeLessThan((minutes + 6) * 60_000);
    gate.open();
    await readResponse(await asking);
  }
});

test("the last key of a day lasts for all calls of a response", async () => {
  const account = await payer();
  const of = { bucket: account.row.bucket, account: account.row.id };
  const count = Buffer.alloc(16);
  count.writeDoubleLE(Math.floor(Date.now() / 86_400_000));
  count.writeDoubleLE(IDEMPOTENCY.keysPerDay - 1, 8);
  await api.parts.stores.redis.set(limitKey(of, "idempotency_keys"), count);
  server.queue(inForm(CHAT, searching("fares")), inForm(CHAT, saying("Four.")));
  const { response } = await readResponse(await world.post(account, bodyOf(), { headers }));
  expect(response.status).toBe("completed");
  expect(await paidOf(account)).toBe(usd("4.998952"));
  const other = { "idempotency-key": "search-2" };
  const refused = await world.post(account, bodyOf(), { headers: other });
  expect((await errorOf(refused)).code).toBe("too_many_idempotency_keys");
});

test("two parallel requests of a free model with one key pay one search", async () => {
  const account = await payer();
  const gate = closedGate();
  searchLater(world, gate);
  server.queue(inForm(CHAT, searching("fares")), inForm(CHAT, searching("fares")));
  const body = bodyOf({ model: "free-test" });
  const asking = [1, 2].map(() => world.post(account, body, { headers }));
  await until(() => gate.arrivals === 1, "one of them searches");
  const refused = await Promise.race(asking);
  expect((await errorOf(refused)).code).toBe("idempotency_in_progress");
  server.queue(inForm(CHAT, saying("Four.")));
  gate.open();
  const answers = await Promise.all(asking);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(await paidOf(account)).toBe(usd("4.999"));
});
