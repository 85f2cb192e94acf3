import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../src/core/errors.ts";
import { type Batches, pullable } from "../../../../src/services/chat/protocols/batches.ts";
import type { ChatBatch } from "../../../../src/services/chat/protocols/provider.ts";
import {
  ask,
  idle,
  KEY,
  limitsIn,
  modelOf,
  PROMPT,
  providerAt,
  REQUEST,
  type Routes,
  readAll,
  routesOver,
  routesTo,
} from "../../../support/api/chat-routes.ts";
import { rejection } from "../../../support/api/rejection.ts";
import { eventLoopTurns, eventually } from "../../../support/eventually.ts";
import { type FakeUpstream, startFakeUpstream } from "../../../support/fakes/fake-upstream.ts";
import { atEnd, shared } from "../../../support/shared.ts";

const ACCOUNT = "acct_1";

const lost: unknown[] = [];
const onLost = (error: unknown) => void lost.push(error);
process.on("unhandledRejection", onLost);
atEnd(async () => {
  // An unhandled rejection is reported in the turn after it.
  await eventLoopTurns(20);
  process.off("unhandledRejection", onLost);
  expect(lost).toEqual([]);
});

const first = await shared(startFakeUpstream());
const second = await shared(startFakeUpstream());

const TEXT = "Fares are paid before the ride begins.";

const FALLS = [
  "401 403 404 408 429 500 503 redirect bad-json empty no-choices no-message error-200",
  "400-balance 400-key 400-arrears 400-model 413-rate",
  "hang-before-headers hang-in-error reset-before-headers",
].flatMap((moods) => moods.split(" "));
/** For a plain reply, the next route can still serve one that broke off in the middle. */
const FALLS_PLAIN = ["reset-mid-stream", "hang-mid-stream", "error-mid-stream"];
const BREAKS = ["junk-mid-stream", "end-mid-stream", ...FALLS_PLAIN];
const CALLERS = ["context-length", "content-policy", "400-html", "400-huge", "413", "422"];

const MODES = [
  [false, "plain"],
  [true, "streamed"],
] as const;

test.each([
  ["401", "access"],
  ["400-balance", "access"],
  ["400-key", "access"],
  ["403", "refused"],
  ["429", "refused"],
  ["503", "failed"],
] as const)("a server in the mood %s is counted as %s", async (mood, kind) => {
  const counted: string[] = [];
  const attempted = (_: string, result: string) => counted.push(result);
  const routes = routesTo([first, second], {}, { attempted, brokeOff: attempted });
  await ask(routes, routes.model(mood), { stream: false });
  expect(counted).toEqual([kind, "ok"]);
});

for (const [stream, how] of MODES) {
  describe(`${how}: the next route`, () => {
    for (const mood of stream ? FALLS : [...FALLS, ...FALLS_PLAIN]) {
      test(`serves in the mood ${mood}`, async () => {
        const routes = routesTo([first, second], limitsIn(mood));
        expect(await ask(routes, routes.model(mood), { stream })).toMatchObject({ text: TEXT });
        expect(routes.logged).toHaveLength(1);
      });
    }

    test("gets the extra parameters that its model accepts, and no other", async () => {
      const routes = routesTo([first, second]);
      const extras = new Map<string, unknown>([
        ["top_k", 5],
        ["min_p", 0.1],
      ]);
      const model = { ...routes.model("503"), extraParameters: ["top_k"] };
      await ask(routes, model, { stream, request: { ...REQUEST, extras } });
      for (const upstream of [first, second]) {
        const { body } = upstream.requests.at(-1) ?? {};
        expect(body).toMatchObject({ top_k: 5 });
        expect(body).not.toHaveProperty("min_p");
      }
    });

    test("is named as the one that served", async () => {
      const { chat, model } = routesTo([first, second]);
      for (const [mood, lane] of [
        ["ok", "first-ai"],
        ["503", "second-ai"],
      ] as const) {
        const call = [model(mood), REQUEST, { account: ACCOUNT, signal: idle() }] as const;
        const served = stream ? await chat.stream(...call) : await chat.complete(...call);
        expect(served.lane).toBe(lane);
        if (Symbol.asyncIterator in served) await readAll(served);
      }
    });

    test("serves when nothing listens at the first", async () => {
      const routes = routesOver([
        providerAt("http://127.0.0.1:1/v1", { name: "dead" }),
        providerAt(second.baseUrl, { name: "alive" }),
      ]);
      expect(await ask(routes, routes.model("ok"), { stream })).toMatchObject({ text: TEXT });
    });

    for (const mood of CALLERS) {
      test(`is not used when the request is at fault: ${mood}`, async () => {
        const routes = routesTo([first, second]);
        const before = second.requests.length;
        const error = await rejection(ask(routes, routes.model(mood), { stream }));
        const isFull = mood === "context-length";
        const code = isFull ? "context_length_exceeded" : "invalid_parameter";
        expect(error).toMatchObject({ code, status: 400 });
        expect(second.requests).toHaveLength(before);
        expect((error as Error).message.length).toBeLessThan(700);
        expect((error as Error).message).not.toContain("secret-zone");
      });
    }

    test("is not used when the caller is gone, and no provider is blamed", async () => {
      const routes = routesTo([first, second]);
      const before = second.requests.length;
      for (let count = 0; count < 6; count += 1) {
        const gone = new AbortController();
        const asked = rejection(
          ask(routes, routes.model("hang-before-headers"), { stream, signal: gone.signal }),
        );
        const seen = await newRequest(first, "hang-before-headers");
        gone.abort();
        await asked;
        await eventually("the upstream is hung up on", () => seen.isAborted);
      }
      expect(second.requests).toHaveLength(before);
      expect(routes.logged).toEqual([]);
      // Five failures would have given the first provider up.
      await ask(routes, routes.model("ok"), { stream });
      expect(second.requests).toHaveLength(before);
    });

    test("serves while the first has no free slot, and the first again afterwards", async () => {
      const routes = routesTo([first, second], { concurrencyMax: 2 });
      const gone = new AbortController();
      const held = [1, 2].map(() =>
        rejection(
          ask(routes, modelOf(["first-ai", "hang-before-headers"]), {
            stream,
            signal: gone.signal,
          }),
        ),
      );
      const before = second.requests.length;
      await ask(routes, routes.model("ok"), { stream });
      expect(second.requests).toHaveLength(before + 1);
      gone.abort();
      await Promise.all(held);
      await ask(routes, routes.model("ok"), { stream });
      expect(second.requests).toHaveLength(before + 1);
    });

    test("serves while the first fails, until it works", async () => {
      const routes = routesTo([first, second]);
      first.queue("500", "ok");
      const before = first.requests.length;
      await ask(routes, routes.model("ok"), { stream });
      await ask(routes, routes.model("ok"), { stream });
      expect(first.requests.slice(before).map(({ mood }) => mood)).toEqual(["500", "ok"]);
    });

    test("does not exist: upstream_unreachable, which names no provider", async () => {
      for (const mood of FALLS) {
        const routes = routesTo([first], limitsIn(mood));
        const error = await rejection(ask(routes, routes.model(mood), { stream }));
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toMatchObject({ code: "upstream_unreachable", status: 502 });
        expect((error as Error).message).toBe("The model 'public-model' does not answer right now");
      }
    });

    test("has no usage that the model could not have", async () => {
      const routes = routesTo([first]);
      expect((await ask(routes, routes.model("absurd-usage"), { stream })).usage).toBeNull();
    });
  });
}

async function newRequest(upstream: FakeUpstream, mood: string) {
  const isOpen = (one: (typeof upstream.requests)[number]) =>
    one.mood === mood && !one.isAnswered && !one.isAborted;
  await eventually("the upstream is asked", () => upstream.requests.some(isOpen));
  const found = upstream.requests.findLast(isOpen);
  if (found === undefined) throw new Error("It was not asked");
  return found;
}

describe("a message of the upstream", () => {
  const said = async (message: string, model = "m") => {
    const refusing = Bun.serve({
      port: 0,
      fetch: () => Response.json({ error: { message } }, { status: 400 }),
    });
    const port = refusing.port;
    try {
      const routes = routesOver([
        providerAt(`http://localhost:${port}/v1`, { name: "fictional-ai", apiKey: KEY }),
      ]);
      const asked = ask(routes, modelOf(["fictional-ai", model]), { stream: false });
      return ((await rejection(asked)) as Error).message;
    } finally {
      await refusing.stop(true);
    }
  };

  test("is passed on if it explains the request", async () => {
    const text = await said("key_name must be\na string, see tools.0.function.parameters");
    expect(text).toEndWith(": key_name must be a string, see tools.0.function.parameters");
  });

  test("is left out if it names the upstream's model", async () => {
    const message = "temperature does not support 0.2 with Maker/Deep-9B";
    expect(await said(message, "maker/deep-9b")).toBe("The model did not accept this request");
    expect(await said("public-model takes no tools", "public-model")).toContain("takes no tools");
  });

  for (const message of [
    `The key ${KEY} may not do this`,
    "Not with the key sk-fake***************see",
    "Ask Fictional-AI for help",
    "No route at http://localhost/v1",
    "No route at LOCALHOST",
    "connect to 10.0.0.7 failed",
    "See https://other.example/account",
    "Organization org-4f2aB1 has no access",
    "Project proj_4f2aB1 has no access",
    "Mail to help@fictional.example",
  ]) {
    test(`is left out if it reveals too much: ${message}`, async () => {
      const text = await said(message);
      expect(text).toBe("The model did not accept this request");
    });
  }
});

describe("a stream", () => {
  test("starts only with its first delta", async () => {
    const routes = routesTo([first]);
    const model = modelOf(["first-ai", "tokens-2-every-80"]);
    const batches = await routes.chat.stream(model, REQUEST, { account: ACCOUNT, signal: idle() });
    const { deltas } = (await batches[Symbol.asyncIterator]().next()).value as ChatBatch;
    expect(deltas.length).toBeGreaterThan(0);
    await batches[Symbol.asyncIterator]().return?.();
  });

  for (const mood of BREAKS) {
    test(`that breaks in its middle never goes to another route: ${mood}`, async () => {
      const routes = routesTo([first, second], limitsIn(mood));
      const before = second.requests.length;
      const batches = await routes.chat.stream(routes.model(mood), REQUEST, {
        account: ACCOUNT,
        signal: idle(),
      });
      const error = await rejection(readAll(batches));
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: "upstream_unreachable" });
      expect((error as Error).message).not.toContain("secret-zone");
      expect(second.requests).toHaveLength(before);
    });
  }

  test("whose caller leaves in its middle ends upstream, without blame", async () => {
    const routes = routesTo([first, second]);
    const before = second.requests.length;
    for (let count = 0; count < 6; count += 1) {
      const gone = new AbortController();
      const model = routes.model("hang-mid-stream");
      const batches = await routes.chat.stream(model, REQUEST, {
        account: ACCOUNT,
        signal: gone.signal,
      });
      const reading = rejection(readAll(batches));
      const seen = await newRequest(first, "hang-mid-stream");
      gone.abort();
      await reading;
      await eventually("the upstream is hung up on", () => seen.isAborted);
    }
    await ask(routes, routes.model("ok"), { stream: true });
    expect(second.requests).toHaveLength(before);
  });

  test("gives its slot back when its caller leaves before reading it", async () => {
    const routes = routesTo([first], { concurrencyMax: 1 });
    const gone = new AbortController();
    const model = routes.model("hang-mid-stream");
    await routes.chat.stream(model, REQUEST, { account: ACCOUNT, signal: gone.signal });
    const seen = await newRequest(first, "hang-mid-stream");
    gone.abort();
    await eventually("the upstream is hung up on", () => seen.isAborted);
    expect((await ask(routes, routes.model("ok"), { stream: true })).text).toBe(TEXT);
  });

  test("of which only the first batch is read gives its slot back", async () => {
    const routes = routesTo([first], { concurrencyMax: 1 });
    for (let count = 0; count < 3; count += 1) {
      const model = routes.model("tokens-200-every-2");
      const batches = await routes.chat.stream(model, REQUEST, {
        account: ACCOUNT,
        signal: idle(),
      });
      for await (const _ of batches) break;
    }
  });
});

describe("a provider", () => {
  const shut = async (routes: Routes, mood: string) => {
    for (let count = 0; count < 5; count += 1) {
      await rejection(ask(routes, modelOf(["first-ai", mood]), { stream: false }));
    }
  };

  test("is skipped by accounts whose calls failed, tried by one call, then back", async () => {
    const routes = routesTo([first, second]);
    const accounts = [1, 2, 3, 4, 5].map((number) => `acct_${number}`);
    const [one = "", other = ""] = accounts;
    for (const account of accounts) {
      await rejection(ask(routes, modelOf(["first-ai", "500"]), { stream: false, account }));
    }
    const okays = () => first.requests.filter(({ mood }) => mood === "ok").length;
    const askedOf = async (account: string) => {
      const asked = okays();
      await ask(routes, routes.model("ok"), { stream: false, account });
      return okays() > asked ? "first" : "second";
    };
    expect(await askedOf(one)).toBe("second");
    routes.clockMs += 10_000;
    const gone = new AbortController();
    const { signal } = gone;
    const hanging = modelOf(["first-ai", "hang-before-headers"]);
    const trial = rejection(ask(routes, hanging, { stream: false, account: one, signal }));
    expect(await askedOf(one)).toBe("second");
    gone.abort();
    await trial;
    expect(await askedOf(other)).toBe("first");
    expect(await askedOf(one)).toBe("first");
  });

  test("is back as soon as a stream that tries it has begun", async () => {
    const routes = routesTo([first]);
    await shut(routes, "500");
    routes.clockMs += 10_000;
    const model = routes.model("tokens-200-every-2");
    const batches = await routes.chat.stream(model, REQUEST, { account: ACCOUNT, signal: idle() });
    expect((await ask(routes, routes.model("ok"), { stream: false })).text).toBe(TEXT);
    await batches[Symbol.asyncIterator]().return?.();
  });

  test("is not given up for a model that it does not know, refuses or limits", async () => {
    for (const mood of ["403", "404", "429"]) {
      const routes = routesTo([first]);
      await shut(routes, mood);
      expect((await ask(routes, routes.model("ok"), { stream: false })).text).toBe(TEXT);
    }
  });

  test("is not given up for a caller's request", async () => {
    for (const mood of ["context-length", "400-html", "422", "reasoning-only", "refusal"]) {
      const routes = routesTo([first]);
      for (let count = 0; count < 6; count += 1) {
        await ask(routes, routes.model(mood), { stream: count % 2 === 0 }).catch(() => {});
      }
      expect((await ask(routes, routes.model("ok"), { stream: false })).text).toBe(TEXT);
    }
  });

  test.each([
    [true, "oversize-event"],
    [false, "reset-mid-stream"],
  ])(
    "is not given up for others by what one account makes it send: %p, %s",
    async (stream, mood) => {
      const routes = routesTo([first]);
      for (let count = 0; count < 6; count += 1) {
        await rejection(ask(routes, routes.model(mood), { stream, account: ACCOUNT }));
      }
      expect((await ask(routes, routes.model("ok"), { stream: true })).text).toBe(TEXT);
    },
  );

  test("that broke five streams is given up by the accounts of these streams", async () => {
    const routes = routesTo([first]);
    const accounts = [1, 2, 3, 4, 5].map((number) => `acct_${number}`);
    for (const account of accounts) {
      await rejection(ask(routes, routes.model("reset-mid-stream"), { stream: true, account }));
    }
    const asked = first.requests.length;
    for (const account of accounts) {
      await rejection(ask(routes, routes.model("ok"), { stream: true, account }));
    }
    expect(first.requests).toHaveLength(asked);
    const other = { stream: true, account: "acct_6" };
    expect((await ask(routes, routes.model("ok"), other)).text).toBe(TEXT);
  });

  test("is not given up for our own fault in handling its streams", async () => {
    const routes = routesTo([first]);
    const fault = new Error("a fault of ours");
    for (let count = 0; count < 6; count += 1) {
      const options = { account: `acct_${count}`, signal: idle() };
      const stream = await routes.chat.stream(routes.model("tokens-200-every-2"), REQUEST, options);
      expect(await failureOfTaker(pullable(stream), fault)).toBe(fault);
    }
    expect((await ask(routes, routes.model("ok"), { stream: true })).text).toBe(TEXT);
  });
});

/** The error that a stream gives after its taker throws this at its second batch. */
async function failureOfTaker(stream: Batches, fault: Error): Promise<unknown> {
  await stream.next();
  const { promise, resolve } = Promise.withResolvers();
  stream.pull({
    take: () => {
      throw fault;
    },
    end: () => resolve("the end"),
    fail: resolve,
  });
  return await promise;
}

test("the log never has the prompt, the key, or the upstream's words", async () => {
  for (const mood of [...FALLS, ...BREAKS]) {
    const routes = routesTo([first, second], limitsIn(mood));
    await ask(routes, routes.model(mood), { stream: true }).catch(() => {});
    const logged = routes.logged.join("\n");
    for (const secret of [PROMPT, KEY, "secret-zone"]) expect(logged).not.toContain(secret);
  }
});

test("no slot is lost over 1,000 calls that end in every way", async () => {
  const atOnce = 20;
  const routes = routesTo([first], { concurrencyMax: atOnce, ...limitsIn("hang-mid-stream") });
  const moods = ["ok", "500", "context-length", "reset-mid-stream", "hang-mid-stream", "empty"];
  const one = async (at: number) => {
    const stream = at % 3 !== 0;
    const gone = new AbortController();
    if (at % 5 === 0) void eventLoopTurns(at % 20).then(() => gone.abort());
    const model = routes.model(moods[at % moods.length] ?? "ok");
    const caller = { account: ACCOUNT, signal: gone.signal };
    if (!stream || at % 7 !== 0) return await ask(routes, model, { stream, ...caller });
    const batches = await routes.chat.stream(model, REQUEST, caller);
    if (at % 2 === 0) for await (const _ of batches) break;
    // A stream that is not read.
    else gone.abort();
  };
  const before = first.requests.length;
  for (let at = 0; at < 1_000; at += atOnce) {
    routes.clockMs += 60_000;
    await Promise.allSettled(Array.from({ length: atOnce }, (_, offset) => one(at + offset)));
  }
  // The breaker counts several accounts, and has stopped none of them.
  expect(first.requests.length - before).toBeGreaterThan(500);
  await eventually("no request is left at the upstream", () =>
    first.requests.every(({ isAnswered, isAborted }) => isAnswered || isAborted),
  );
  // Streamed, because whole replies have a short limit here.
  const streamed = (mood: string, { signal } = new AbortController()) =>
    ask(routes, routes.model(mood), { stream: true, signal });
  routes.clockMs += 60_000;
  await streamed("ok");
  const all = await Promise.all(Array.from({ length: atOnce }, () => streamed("ok")));
  expect(all.map(({ text }) => text)).toEqual(Array.from({ length: atOnce }, () => TEXT));
  const gone = new AbortController();
  const held = rejection(streamed("hang-before-headers", gone));
  await newRequest(first, "hang-before-headers");
  gone.abort();
  await held;
});
