// Tests that a conversation stays at one route of a model: over real HTTP, as two processes would
// ask it, with routes that fail, differ in price or speed, or have other weights.

import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../../src/core/durations.ts";
import {
  bandPrices,
  type ModelEntry,
  PROVIDER_DEFAULTS,
  type Route,
} from "../../../../src/services/chat/models/catalogue.ts";
import type { ChatRequest } from "../../../../src/services/chat/protocols/provider.ts";
import {
  conversationOf,
  PINS_MAX,
  StickyRoutes,
} from "../../../../src/services/chat/protocols/sticky-routes.ts";
import { ask, modelOf, providerAt, REQUEST, routesOver } from "../../../support/api/chat-routes.ts";
import { rejection } from "../../../support/api/rejection.ts";
import { startFakeUpstream } from "../../../support/fakes/fake-upstream.ts";
import { shared } from "../../../support/shared.ts";

const ACCOUNT = "acct_1";
const upstreams = {
  "first-ai": await shared(startFakeUpstream()),
  "second-ai": await shared(startFakeUpstream()),
};
type Lane = keyof typeof upstreams;
const LANES = Object.keys(upstreams) as Lane[];

const routesNow = () =>
  routesOver(LANES.map((name) => providerAt(upstreams[name].baseUrl, { name })));

function spreadModel(
  spread: ModelEntry["spread"],
  parts: readonly Partial<Route>[] = [],
): ModelEntry {
  const model = modelOf(["first-ai", "ok"], ["second-ai", "ok"]);
  const routes = model.routes.map((route, at) => ({ ...route, ...parts[at] }));
  return { ...model, routes, ...(spread !== undefined && { spread }) };
}

const MODEL = spreadModel("weight");

/** The request after so many turns of a conversation that begins with this text. */
function turn(beginning: string, turns = 0): ChatRequest {
  const messages = [
    { role: "system", content: "You sell tickets." },
    { role: "user", content: beginning },
  ] as ChatRequest["messages"][number][];
  for (let count = 0; count < turns; count += 1) {
    messages.push({ role: "assistant", content: `Answer ${count}` });
    messages.push({ role: "user", content: `Question ${count}` });
  }
  return { ...REQUEST, messages };
}

const askedSoFar = () => LANES.map((name) => upstreams[name].requests.length);

/** The number of requests that each server gets by these calls. */
async function countsOf(calls: () => Promise<unknown>): Promise<readonly number[]> {
  const before = askedSoFar();
  await calls();
  return askedSoFar().map((count, at) => count - (before[at] ?? 0));
}

/** The route that serves a request. */
async function laneOf(
  routes: ReturnType<typeof routesNow>,
  request: ChatRequest,
  { model = MODEL, account = ACCOUNT, stream = false } = {},
): Promise<Lane | undefined> {
  const counts = await countsOf(() => ask(routes, model, { stream, request, account }));
  return LANES[counts.indexOf(1)];
}

const inOrder = (model: ModelEntry, request: ChatRequest, account = ACCOUNT): string[] =>
  orderIn(new StickyRoutes({ monotonicMs: () => 0 }), model, { request, account });

function orderIn(
  sticky: StickyRoutes,
  model: ModelEntry,
  { request, account }: { readonly request: ChatRequest; readonly account: string },
): string[] {
  const candidates = model.routes.map((route) => ({ server: providerAt("http://a/v1"), route }));
  const call = sticky.callOf(model, request, account);
  return (call?.order(candidates, "stream") ?? []).map(({ route }) => route.provider);
}

test.each([false, true])(
  "50 turns of a conversation are served by one of two routes (%j)",
  async (stream) => {
    const routes = routesNow();
    for (const beginning of ["To the sea", "To the city", "To the hills", "Home"]) {
      const counts = await countsOf(async () => {
        for (let turns = 0; turns < 50; turns += 1) {
          await ask(routes, MODEL, { stream, request: turn(beginning, turns), account: ACCOUNT });
        }
      });
      expect(Math.max(...counts)).toBe(50);
    }
  },
);

test("two processes send a conversation to the same route, without a shared state", async () => {
  const one = routesNow();
  const other = routesNow();
  for (let number = 0; number < 20; number += 1) {
    const request = turn(`Conversation ${number}`);
    expect(await laneOf(one, request)).toBe(await laneOf(other, turn(`Conversation ${number}`, 3)));
  }
});

describe("the identity of a conversation", () => {
  const of = (request: ChatRequest, account = ACCOUNT) => conversationOf(MODEL, request, account);
  const keyed = (key: string, text = "To the sea") => ({
    ...turn(text),
    identifiers: { prompt_cache_key: key },
  });
  const named = (session: string, text = "To the sea") => ({ ...turn(text), session });

  test("is the caller's cache key, else the session, else the beginning of the prompt", () => {
    expect(of(keyed("a"))).toBe(of(keyed("a", "To the city")));
    expect(of(keyed("a"))).not.toBe(of(keyed("b")));
    expect(of({ ...keyed("a"), session: "x" })).toBe(of(keyed("a")));
    expect(of(named("a"))).toBe(of(named("a", "To the city")));
    expect(of(named("a"))).not.toBe(of(keyed("a")));
    expect(of(turn("To the sea", 9))).toBe(of(turn("To the sea")));
    expect(of(turn("To the sea"))).not.toBe(of(turn("To the city")));
  });

  test("differs between accounts and between models", () => {
    for (const request of [turn("To the sea"), keyed("a"), named("a")]) {
      expect(of(request)).not.toBe(of(request, "acct_2"));
      expect(of(request)).not.toBe(conversationOf({ id: "other" }, request, ACCOUNT));
    }
  });

  test("differs between images of one length", () => {
    const pictured = (end: string) => {
      const url = `data:image/png;base64,${"A".repeat(400)}${end}`;
      const part = { type: "media", url } as never;
      return { ...REQUEST, messages: [{ role: "user", content: [part] }] } as ChatRequest;
    };
    expect(of(pictured("AA=="))).not.toBe(of(pictured("BB==")));
  });
});

describe("conversations are divided", () => {
  const firstOf = (model: ModelEntry, number: number) =>
    inOrder(model, turn(`Number ${number}`))[0];
  const shareOfFirst = (model: ModelEntry) => {
    let count = 0;
    for (let number = 0; number < 2_000; number += 1) {
      if (firstOf(model, number) === "first-ai") count += 1;
    }
    return count / 2_000;
  };

  test.each([
    [1, 1, 0.5],
    [3, 1, 0.75],
    [1, 9, 0.1],
    [1, 0, 1],
  ])("by the weights %d and %d", (one, other, share) => {
    const model = spreadModel("weight", [{ weight: one }, { weight: other }]);
    expect(Math.abs(shareOfFirst(model) - share)).toBeLessThan(0.03);
  });

  test("so that another weight moves only the conversations that it must", () => {
    const before = spreadModel("weight", [{ weight: 2 }, { weight: 2 }]);
    const after = spreadModel("weight", [{ weight: 2 }, { weight: 3 }]);
    for (let number = 0; number < 500; number += 1) {
      if (firstOf(before, number) === "second-ai") expect(firstOf(after, number)).toBe("second-ai");
    }
  });

  test("to the cheapest route, and among equals by weight", () => {
    const buying = (input: string) => ({ buying: bandPrices({ input, output: "1" }) });
    const one = spreadModel("price", [buying("0.2"), buying("0.1")]);
    const same = spreadModel("price", [buying("0.1"), buying("0.1")]);
    expect(shareOfFirst(one)).toBe(0);
    expect(Math.abs(shareOfFirst(same) - 0.5)).toBeLessThan(0.03);
  });

  test("by speed: a route that takes twice as long gets a fifth, in either mode of replies", () => {
    const model = spreadModel("latency");
    const [first, second] = model.routes as [Route, Route];
    const clock = { ms: 0, monotonicMs: () => clock.ms };
    const share = (mode: "stream" | "whole", tokens: number) => {
      const sticky = new StickyRoutes(clock);
      const server = providerAt("http://a/v1", { cacheMinutes: 1 });
      for (const [route, ms] of [
        [first, 100],
        [second, 200],
      ] as const) {
        const call = sticky.callOf(model, turn("measured"), ACCOUNT);
        call?.begins();
        clock.ms += ms * tokens;
        call?.answered({ server, route }, mode, tokens);
      }
      clock.ms += MINUTE_MS;
      const candidates = model.routes.map((route) => ({ server, route }));
      let count = 0;
      for (let number = 0; number < 2_000; number += 1) {
        const call = sticky.callOf(model, turn(`Number ${number}`), ACCOUNT);
        if (call?.order(candidates, mode)[0]?.route === second) count += 1;
      }
      return count / 2_000;
    };
    expect(Math.abs(share("stream", 1) - 0.2)).toBeLessThan(0.03);
    expect(Math.abs(share("whole", 40) - 0.2)).toBeLessThan(0.03);
  });
});

describe("a conversation moves", () => {
  /** A request that the first route serves, in a process that has served nothing yet. */
  async function requestAtFirst(routes: ReturnType<typeof routesNow>, kind: string) {
    for (let number = 0; number < 50; number += 1) {
      const request = turn(`${kind} ${number}`);
      if ((await laneOf(routes, request)) === "first-ai") return request;
    }
    throw new Error("No conversation begins at the first route");
  }

  test.each([false, true])(
    "when its route fails, and stays at the other while that has its cache",
    async (stream) => {
      const routes = routesNow();
      const request = await requestAtFirst(routes, `fails ${stream}`);
      upstreams["first-ai"].queue("503");
      const counts = await countsOf(() =>
        ask(routes, MODEL, { stream, request, account: ACCOUNT }),
      );
      expect(counts).toEqual([1, 1]);
      for (let turns = 0; turns < 10; turns += 1) {
        routes.clockMs += (PROVIDER_DEFAULTS.cacheMinutes - 1) * MINUTE_MS;
        expect(await laneOf(routes, request, { stream })).toBe("second-ai");
      }
      routes.clockMs += PROVIDER_DEFAULTS.cacheMinutes * MINUTE_MS;
      expect(await laneOf(routes, request, { stream })).toBe("first-ai");
    },
  );

  test("when a stream of its route breaks off in the middle", async () => {
    const routes = routesNow();
    const request = await requestAtFirst(routes, "breaks");
    upstreams["first-ai"].queue("reset-mid-stream");
    await rejection(ask(routes, MODEL, { stream: true, request, account: ACCOUNT }));
    expect(await laneOf(routes, request, { stream: true })).toBe("second-ai");
  });

  test("not when its caller leaves a stream", async () => {
    const routes = routesNow();
    const request = await requestAtFirst(routes, "leaves");
    const gone = new AbortController();
    upstreams["first-ai"].queue("hang-mid-stream");
    const call = { account: ACCOUNT, signal: gone.signal };
    const stream = await routes.chat.stream(MODEL, request, call);
    gone.abort();
    await rejection(
      (async () => {
        for await (const _ of stream);
      })(),
    );
    expect(await laneOf(routes, request)).toBe("first-ai");
  });
});

test("an open conversation leaves a route that gets the weight 0", () => {
  const sticky = new StickyRoutes({ monotonicMs: () => 0 });
  const request = turn("Drained");
  const model = spreadModel("weight", [{ weight: 0 }, {}]);
  const drained = model.routes[0] as Route;
  sticky.pin(conversationOf(model, request, ACCOUNT), drained, 5);
  expect(orderIn(sticky, model, { request, account: ACCOUNT })).toEqual(["second-ai", "first-ai"]);
});

test("without a spread, routes are tried in order, as before", async () => {
  const routes = routesNow();
  const model = spreadModel(undefined);
  for (let number = 0; number < 20; number += 1) {
    expect(await laneOf(routes, turn(`In order ${number}`), { model })).toBe("first-ai");
  }
});

test("beyond the bound of conversations the one used longest ago goes where its hash says", () => {
  const sticky = new StickyRoutes({ monotonicMs: () => 0 });
  const request = turn("Moved");
  const [preferred = "", other = ""] = inOrder(MODEL, request);
  const moved = MODEL.routes.find(({ provider }) => provider === other) as Route;
  sticky.pin(conversationOf(MODEL, request, ACCOUNT), moved, 5);
  const first = () => orderIn(sticky, MODEL, { request, account: ACCOUNT })[0];
  expect(first()).toBe(other);
  for (let number = 0n; number < PINS_MAX; number += 1n) sticky.pin(number, moved, 5);
  expect(first()).toBe(preferred);
});

test("a conversation with writes of an hour stays for an hour", () => {
  const clock = { ms: 0, monotonicMs: () => clock.ms };
  const sticky = new StickyRoutes(clock);
  const own = { form: "messages", body: {}, lost: [], only: [], hasLongWrites: true } as const;
  const request = { ...turn("Hour"), own };
  const [preferred = "", other = ""] = inOrder(MODEL, request);
  const server = providerAt("http://a/v1", { cacheMinutes: 5 });
  const route = MODEL.routes.find(({ provider }) => provider === other) as Route;
  sticky.callOf(MODEL, request, ACCOUNT)?.answered({ server, route }, "whole");
  const first = () => orderIn(sticky, MODEL, { request, account: ACCOUNT })[0];
  clock.ms = 59 * MINUTE_MS;
  expect(first()).toBe(other);
  clock.ms = 60 * MINUTE_MS;
  expect(first()).toBe(preferred);
});
