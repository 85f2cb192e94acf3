// Tests that three accounts that flood a server, by any way to make it fail, wait or misbehave,
// hardly affect another account whose requests the server serves: everything that is remembered
// about a server is shared, and one caller's input must not change it for others.

import { describe, expect, test } from "bun:test";
import { Cancellation, type CancelSignal } from "../../../src/core/cancellation.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { Fallback, type Served } from "../../../src/upstream/fallback.ts";
import { RouteFailure } from "../../../src/upstream/route-failure.ts";
import { eventLoopTurns } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";

const ATTACKERS = ["bad_1", "bad_2", "bad_3"];
const TICK_MS = 100;
const FLOOD_MS = 120_000;
/** Requests of each attacker in each tick. */
const BURST = 3;
const SHARE_MAX = 0.02;
const never = new Cancellation().signal;

type Take = (served: Served<unknown, string>) => void;

interface Flood {
  /** The server's reaction to one of their requests, by its number. */
  readonly attempt: (clock: FakeClock, number: number) => Promise<string>;
  /** The handling of the answers. */
  readonly take?: Take;
  /** The time when they leave. */
  readonly signal?: (clock: FakeClock) => CancelSignal;
}

const whole: Take = ({ use }) => use.end("ok");

function after<T>(clock: FakeClock, delayMs: number, run: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  clock.after(delayMs, () => {
    try {
      resolve(run());
    } catch (error) {
      reject(error);
    }
  });
  return promise;
}

const throwing = (error: Error) => () => {
  throw error;
};
const fails = (error: Error) => () => Promise.reject(error);
const died = new RouteFailure("The server did not answer (ECONNRESET)");
const late = new RouteFailure("The server did not answer in time");
const refused = new ApiError("invalid_parameter", "The model did not accept this request");

const FLOODS: Readonly<Record<string, Flood>> = {
  "are answered with 500": { attempt: fails(new RouteFailure("The server answered 500")) },
  "make the server close the connection": { attempt: fails(died) },
  "are answered with 429 and a Retry-After of a day": {
    attempt: fails(new RouteFailure("The server answered 429", "nobody", 86_400)),
  },
  "are invalid": { attempt: fails(refused) },
  "are served and fail in turn": {
    attempt: (_, number) => (number % 2 === 0 ? Promise.reject(died) : Promise.resolve("served")),
    take: whole,
  },
  "have no answer for half a minute": {
    attempt: (clock) => after(clock, 30_000, throwing(late)),
  },
  "fail after ten seconds, all at once": {
    attempt: (clock) => after(clock, 10_000 - (clock.monotonicMs() % 10_000), throwing(died)),
  },
  "have streams that break off at once": {
    attempt: () => Promise.resolve("begun"),
    take: ({ use }) => use.end("failed"),
  },
  "have streams that never end": {
    attempt: () => Promise.resolve("begun"),
    take: () => {},
  },
  "are left by their callers": {
    attempt: (clock) => after(clock, 5_000, throwing(late)),
    signal: (clock) => {
      const caller = new Cancellation();
      clock.after(1_000, () => caller.abort(new Error("The caller left")));
      return caller.signal;
    },
  },
};

function setUp() {
  const clock = new FakeClock();
  const fallback = new Fallback({ clock, log: silent });
  const server = { name: "one", baseUrl: "", concurrencyMax: 64 };
  const ask = (
    account: string,
    {
      attempt,
      take = whole,
      signal = never,
    }: Omit<Flood, "attempt" | "signal"> & {
      readonly attempt: () => Promise<string>;
      readonly signal?: CancelSignal;
    },
  ) =>
    fallback.first({
      candidates: [{ server }],
      account,
      signal,
      attempt,
      take,
      subject: "model",
      message: "Nobody answers",
    });
  const flood = ({ attempt, take, signal }: Flood, number: number) => {
    for (const account of ATTACKERS) {
      const parts = { ...(take && { take }), ...(signal && { signal: signal(clock) }) };
      ask(account, { attempt: () => attempt(clock, number), ...parts }).catch(() => {});
    }
  };
  return { clock, ask, flood };
}

/** The share of the victim's calls that were not served. */
async function shareLost(kind: Flood, everyMs: number): Promise<number> {
  const { clock, ask, flood } = setUp();
  let calls = 0;
  let lost = 0;
  for (let ms = 0; ms < FLOOD_MS; ms += TICK_MS) {
    for (let burst = 0; burst < BURST; burst += 1) flood(kind, (ms / TICK_MS) * BURST + burst);
    if (ms % everyMs === 0) {
      calls += 1;
      ask("victim", { attempt: () => Promise.resolve("served") }).catch(() => {
        lost += 1;
      });
    }
    await eventLoopTurns(1);
    clock.advance(TICK_MS);
  }
  clock.advance(FLOOD_MS);
  await eventLoopTurns(2);
  return lost / calls;
}

describe("an account loses at most 2 % of its calls while those of three others", () => {
  for (const [name, kind] of Object.entries(FLOODS)) {
    test.each([[100], [1_000], [7_000], [30_000]])(`${name}; one each %d ms`, async (everyMs) => {
      expect(await shareLost(kind, everyMs)).toBeLessThanOrEqual(SHARE_MAX);
    });
  }
});

test("a server that is back serves its callers, whatever trials of others hang", async () => {
  const { clock, ask } = setUp();
  const away = () => Promise.reject(new RouteFailure("ECONNREFUSED", "connection"));
  for (let times = 0; times < 5; times += 1) {
    await ask("bad_1", { attempt: away }).catch(() => {});
  }
  clock.advance(10_000);
  for (const account of ATTACKERS) {
    ask(account, { attempt: () => after(clock, 60_000, throwing(late)) }).catch(() => {});
  }
  let result = "";
  const take: Take = (served) => {
    result = served.result;
    served.use.end("ok");
  };
  await ask("victim", { attempt: () => Promise.resolve("served"), take });
  expect(result).toBe("served");
});
