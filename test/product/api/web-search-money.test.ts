// The money of a response whose model searches, where something happens between its calls: a key is
// revoked, a process may die, the balance is nearly used up or shrinks.

import { describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { until } from "../../support/api/api-world.ts";
import {
  FORMS,
  inForm,
  ROUND_COST,
  readResponse,
  SEARCH_COST,
  saying,
  searchBody,
  searching,
  searchToolWorld,
  WAYS,
} from "../../support/api/search-tool-world.ts";
import { REPLIES } from "../../support/fakes/search-replies.ts";
import { closedGate } from "../../support/gate.ts";
import { createTestKey } from "../../support/stores/accounts.ts";

const world = await searchToolWorld();
const { api, server, finder, payer, paidOf } = world;

/** The words that were searched for; a search may ask its server for several pages. */
const asked = () => [...new Set(finder.questions.map(({ parameters }) => parameters.q))];

test("a search is not made once the key was revoked, although its hold is there", async () => {
  for (const { form, stream } of WAYS) {
    finder.questions.length = 0;
    const account = await payer();
    const other = await createTestKey(api.parts.stores.accounts, account.row);
    finder.answer = async () => {
      await api.revoke(account);
      await api.renewLeases();
      return Response.json(REPLIES.searxng);
    };
    server.queue(inForm(form, searching("fares", "taxes")));
    const { response } = await readResponse(
      await world.post(account, searchBody(form.model, { stream })),
    );
    expect(response).toMatchObject({ status: "failed", error: { code: "invalid_api_key" } });
    expect(asked()).toEqual(["fares"]);
    expect(response.svc.cost_usd).toBeCloseTo(ROUND_COST + SEARCH_COST, 9);
    expect(await paidOf(account, other.id)).toBe(usd("4.998976"));
  }
});

test("the cost of a search is stored before the next one, in case the process dies", async () => {
  const account = await payer();
  const [CHAT] = FORMS;
  const second = closedGate();
  finder.answer = async () => {
    if (asked().length > 1) await second.pass();
    return Response.json(REPLIES.searxng);
  };
  server.queue(inForm(CHAT, searching("fares", "taxes")), inForm(CHAT, saying("Four.")));
  const asking = world.post(account, searchBody(CHAT.model));
  await until(() => second.arrivals > 0, "the second search was asked for");
  // No lease was renewed.
  await until(async () => {
    const held = await api.holdRecords(account);
    return held.some(({ checkpoint }) => checkpoint === usd("0.001"));
  }, "Redis has the cost of the first search");
  second.open();
  expect((await readResponse(await asking)).response.status).toBe("completed");
  expect(await paidOf(account)).toBe(usd("4.997952"));
});

describe("the last round", () => {
  test("can spend what the searches held and did not cost", async () => {
    for (const { form, stream } of WAYS) {
      // Beside all of the hold, 0.0075, nothing would be left for 12,000 tokens, 0.024.
      const account = await payer({ paid: "0.03" });
      server.queue(inForm(form, searching("a", "b", "c")), inForm(form, saying("Four.")));
      const body = searchBody(form.model, { stream, max_output_tokens: 12_000 });
      const { response } = await readResponse(await world.post(account, body));
      expect(response).toMatchObject({ status: "completed", error: null });
      expect(response.svc.calls?.map(({ service }) => service)).toEqual([
        "models",
        "models",
        "search",
      ]);
      expect(response.svc.cost_usd).toBeCloseTo(2 * ROUND_COST + 3 * SEARCH_COST, 9);
      expect(await paidOf(account)).toBe(usd("0.026952"));
    }
  });

  test("can spend as much of the caller's cap", async () => {
    const [CHAT] = FORMS;
    const account = await payer();
    const headers = { "x-svc-max-cost-usd": "0.032" };
    server.queue(inForm(CHAT, searching("a", "b", "c")), inForm(CHAT, saying("Four.")));
    const body = searchBody(CHAT.model, { max_output_tokens: 14_000 });
    await readResponse(await world.post(account, body, { headers }));
    // The cap leaves 0.032 less a round, and 0.003 for the searches.
    expect(server.requests.at(-1)?.body.max_tokens).toBeGreaterThan(13_900);
    expect(await paidOf(account)).toBe(usd("4.996952"));
  });

  test("makes no search that its model asks for without the tool", async () => {
    for (const { form, stream } of WAYS) {
      finder.questions.length = 0;
      const account = await payer();
      const nonsense = {
        ...searching("a"),
        calls: [{ id: "call_0", name: "web_search", input: {} }],
      };
      server.queue(
        inForm(form, searching("fares")),
        ...Array.from({ length: 3 }, () => inForm(form, nonsense)),
        inForm(form, searching("taxes")),
      );
      const body = searchBody(form.model, { stream });
      await readResponse(await world.post(account, body));
      expect(asked()).toEqual(["fares"]);
      const paid = await paidOf(account);
      expect(paid).toBe(usd("4.99888"));
    }
  });
});
