import { describe, expect, test } from "bun:test";
import { Cancellation, type CancelSignal } from "../../../src/core/cancellation.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { Fallback, type RequestWatch, type Served } from "../../../src/upstream/fallback.ts";
import { BREAKERS_MAX, SERVERS_MAX } from "../../../src/upstream/known-servers.ts";
import { RouteFailure, UnableFailure } from "../../../src/upstream/route-failure.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventLoopTurns } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";

const idle = new AbortController().signal;

interface Asked {
  readonly account: string;
  readonly subject?: string;
  /** The behaviour of each server, by its name. */
  readonly servers?: Readonly<Record<string, () => Promise<string>>>;
  readonly signal?: CancelSignal;
  readonly watch?: RequestWatch;
}

const works = (_?: unknown) => Promise.resolve("served");
const fails = (_?: unknown) => Promise.reject(new RouteFailure("500"));
const isAway = () => Promise.reject(new RouteFailure("ECONNREFUSED", "connection"));
const refusal = new ApiError("invalid_parameter", "No server can do this");
const isUnable = () => Promise.reject(new UnableFailure(refusal));

function setUp(concurrencyMax = 100) {
  const clock = new FakeClock();
  const fallback = new Fallback({ clock, log: silent });
  const question = ({ servers = { one: works }, subject = "model", ...asked }: Asked) => ({
    candidates: Object.entries(servers).map(([name, run]) => ({
      server: { name, baseUrl: "", concurrencyMax },
      run,
    })),
    attempt: ({ run }: { readonly run: () => Promise<string> }) => run(),
    signal: idle,
    subject,
    message: "Nobody answers",
    ...asked,
  });
  const first = (asked: Asked) =>
    fallback.first({ ...question(asked), take: (served: Served<unknown, string>) => served });
  /** The code of the error, or the served result. */
  const outcome = async (asked: Asked) => {
    try {
      const served = await first(asked);
      served.use.end("ok");
      return served.result;
    } catch (error) {
      return error instanceof ApiError ? error.code : String(error);
    }
  };
  /** Takes slots, which are held until the test gives them back. */
  const hold = async (account: string, count: number) => {
    const held: Served<unknown, string>[] = [];
    for (let taken = 0; taken < count; taken += 1) held.push(await first({ account }));
    return held;
  };
  /** Takes the slot of a server that has one. */
  const fill = (name = "one") => first({ account: "holder", servers: { [name]: works } });
  return { clock, fallback, question, first, outcome, hold, fill };
}

describe("one account's failing requests", () => {
  test("do not take the server from others", async () => {
    const { outcome } = setUp();
    for (let times = 0; times < 50; times += 1) {
      await outcome({ account: "bad", servers: { one: fails } });
    }
    expect(await outcome({ account: "good" })).toBe("served");
  });

  test("of one model do not take other models of the server away, of any account", async () => {
    const { outcome } = setUp();
    for (let times = 0; times < 9; times += 1) {
      await outcome({ account: `a${times}`, subject: "broken", servers: { one: fails } });
    }
    expect(await outcome({ account: "a1", subject: "broken" })).toBe("upstream_unreachable");
    expect(await outcome({ account: "a1", subject: "other" })).toBe("served");
  });

  test("that fail at every server are the requests' fault", async () => {
    const { clock, outcome } = setUp();
    const servers = { one: fails, two: fails };
    for (let times = 0; times < 30; times += 1) await outcome({ account: `a${times}`, servers });
    expect(await outcome({ account: "good" })).toBe("served");
    // If another server serves the request, the first one is to blame.
    const stoodIn = { one: fails, two: works };
    for (let times = 0; times < 5; times += 1) {
      expect(await outcome({ account: `a${times}`, servers: stoodIn })).toBe("served");
    }
    clock.advance(5_000);
    for (let times = 0; times < 5; times += 1)
      await outcome({ account: `a${times}`, servers: stoodIn });
    expect(await outcome({ account: "a1" })).toBe("upstream_unreachable");
  });
});

test("a server that cannot be reached is given up, whichever account called it", async () => {
  const { outcome } = setUp();
  for (let times = 0; times < 5; times += 1) {
    await outcome({ account: "one", servers: { one: isAway } });
  }
  expect(await outcome({ account: "good" })).toBe("upstream_unreachable");
});

describe("the slots of a server", () => {
  test("are not all held by one account that hangs: others are served at once", async () => {
    const { hold, outcome } = setUp(9);
    await hold("slow", 6);
    expect(await outcome({ account: "good" })).toBe("served");
  });

  test("that are all taken are waited for up to two seconds", async () => {
    const { clock, hold, first, outcome } = setUp(3);
    const held = [...(await hold("a", 2)), ...(await hold("b", 1))];
    const waiting = first({ account: "c" });
    held[2]?.use.end("ok");
    expect((await waiting).result).toBe("served");
    const late = outcome({ account: "d" });
    await Promise.resolve();
    clock.advance(1_999);
    expect(Bun.peek.status(late)).toBe("pending");
    clock.advance(1);
    expect(await late).toBe("upstream_unreachable");
  });

  test("move a request to another server before it waits", async () => {
    const { hold, outcome } = setUp(1);
    await hold("a", 1);
    expect(await outcome({ account: "b", servers: { one: fails, two: works } })).toBe("served");
  });

  test("are given back once, however often the end is reported", async () => {
    const { hold, outcome } = setUp(1);
    const [held] = await hold("a", 1);
    held?.use.end("ok");
    held?.use.end("failed");
    await hold("b", 1);
    const waits = outcome({ account: "c" });
    await Promise.resolve();
    expect(Bun.peek.status(waits)).toBe("pending");
  });
});

describe("a request that waited for a slot", () => {
  test("waits only once every other server has failed", async () => {
    const { fill, outcome } = setUp(1);
    const held = await fill();
    const asked: string[] = [];
    const servers = {
      one: () => works(void asked.push("one")),
      two: () => fails(void asked.push("two")),
    };
    const waiting = outcome({ account: "a", servers });
    await eventLoopTurns(2);
    expect(asked).toEqual(["two"]);
    held.use.end("ok");
    expect(await waiting).toBe("served");
    expect(asked).toEqual(["two", "one"]);
  });

  test("waits for the first of several full servers", async () => {
    const { fill, outcome } = setUp(1);
    const one = await fill("one");
    const two = await fill("two");
    const servers = { one: async () => "by one", two: async () => "by two" };
    const waiting = outcome({ account: "a", servers });
    two.use.end("ok");
    await eventLoopTurns(2);
    expect(Bun.peek.status(waiting)).toBe("pending");
    one.use.end("ok");
    expect(await waiting).toBe("by one");
  });

  test("and then fails gives the slot back, and waits for no other", async () => {
    const { clock, fill, outcome } = setUp(1);
    const held = await fill();
    const waiting = outcome({ account: "a", servers: { one: fails } });
    held.use.end("ok");
    expect(await waiting).toBe("upstream_unreachable");
    expect(clock.pending).toBe(0);
    expect(await outcome({ account: "b" })).toBe("served");
  });

  test("and fails at every server is the request's fault", async () => {
    const { fill, outcome } = setUp(1);
    for (let times = 0; times < 9; times += 1) {
      const held = await fill();
      const waiting = outcome({ account: `a${times}`, servers: { one: fails, two: fails } });
      held.use.end("ignored");
      expect(await waiting).toBe("upstream_unreachable");
    }
    expect(await outcome({ account: "good" })).toBe("served");
    expect(await outcome({ account: "good", servers: { two: works } })).toBe("served");
  });

  test("is not sent to a server that was given up meanwhile, and gives its slot back", async () => {
    const { clock, fill, outcome } = setUp(1);
    for (let times = 0; times < 4; times += 1) {
      await outcome({ account: "a", servers: { one: isAway } });
    }
    const held = await fill();
    const sent: string[] = [];
    const waiting = outcome({ account: "b", servers: { one: () => works(void sent.push("one")) } });
    held.use.end("unreachable");
    expect(await waiting).toBe("upstream_unreachable");
    expect(sent).toEqual([]);
    clock.advance(10_000);
    expect(await outcome({ account: "b" })).toBe("served");
  });

  test("and whose caller leaves is sent nowhere, and takes no slot", async () => {
    const { clock, fill, first, outcome } = setUp(1);
    const held = await fill();
    const caller = new Cancellation();
    const sent: string[] = [];
    const servers = { one: () => works(void sent.push("one")) };
    const waiting = rejection(first({ account: "a", signal: caller.signal, servers }));
    await eventLoopTurns(2);
    const reason = new Error("The caller left");
    caller.abort(reason);
    expect(await waiting).toBe(reason);
    held.use.end("ok");
    expect(await outcome({ account: "b" })).toBe("served");
    expect(sent).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("is refused as every server refuses it, and only then", async () => {
    const { clock, fill, first, outcome } = setUp(1);
    const held = await fill();
    const servers = { one: isUnable, two: isUnable };
    const waiting = rejection(first({ account: "a", servers }));
    held.use.end("ok");
    expect(await waiting).toBe(refusal);
    await fill();
    const late = outcome({ account: "a", servers });
    await eventLoopTurns(2);
    clock.advance(2_000);
    expect(await late).toBe("upstream_unreachable");
  });
});

describe("a request to a server", () => {
  test("that throws at once counts like one that fails", async () => {
    const { outcome } = setUp(1);
    const throws = () => {
      throw new RouteFailure("ECONNREFUSED", "connection");
    };
    for (let times = 0; times < 5; times += 1) {
      const servers = { one: throws, two: works };
      expect(await outcome({ account: "a", servers })).toBe("served");
    }
    expect(await outcome({ account: "b" })).toBe("upstream_unreachable");
  });

  test("is watched from before it is sent until it is over, however it ends", async () => {
    const { first, outcome } = setUp(1);
    const seen: string[] = [];
    const watch = { begin: () => void seen.push("begin"), end: () => void seen.push("end") };
    const servers = {
      one: () => fails(void seen.push("one")),
      two: () => works(void seen.push("two")),
    };
    await outcome({ account: "a", watch, servers });
    expect(seen).toEqual(["begin", "one", "end", "begin", "two", "end"]);
    const gone = new ApiError("upstream_unreachable", "The caller left");
    const begin = () => {
      throw gone;
    };
    expect(await rejection(first({ account: "a", watch: { ...watch, begin } }))).toBe(gone);
    expect(seen.slice(6)).toEqual(["end"]);
    expect(await outcome({ account: "b" })).toBe("served");
  });

  test("that serves leaves the blame to others, even if its answer is unusable", async () => {
    const { fallback, question, outcome } = setUp(1);
    const broken = new TypeError("The answer is odd");
    const take = ({ use }: Served<unknown, string>): never => {
      use.end("ok");
      throw broken;
    };
    for (let times = 0; times < 5; times += 1) {
      const asked = question({ account: `a${times}`, servers: { one: fails, two: works } });
      expect(await rejection(fallback.first({ ...asked, take }))).toBe(broken);
    }
    expect(await outcome({ account: "a1" })).toBe("upstream_unreachable");
    expect(await outcome({ account: "a1", servers: { two: works } })).toBe("served");
  });
});

describe("the remembered health of servers", () => {
  const askOthers = async (
    outcome: (asked: Asked) => Promise<string>,
    count: number,
    otherOf: (number: number) => Pick<Asked, "subject" | "servers">,
  ) => {
    for (let number = 0; number < count; number += 1) {
      await outcome({ account: "a", ...otherOf(number) });
    }
  };

  test("ends with the least recently used failures, beyond the bound of subjects", async () => {
    const { outcome } = setUp();
    for (let asked = 0; asked < 5; asked += 1) {
      await outcome({ account: "a", servers: { one: isAway } });
    }
    expect(await outcome({ account: "a" })).not.toBe("served");
    await askOthers(outcome, BREAKERS_MAX, (number) => ({ subject: `model ${number}` }));
    expect(await outcome({ account: "a" })).toBe("served");
  });

  test("ends with the least recently used slots, beyond the bound of servers", async () => {
    const { hold, outcome } = setUp(1);
    await hold("a", 1);
    await askOthers(outcome, SERVERS_MAX, (number) => ({ servers: { [`${number}`]: works } }));
    expect(await outcome({ account: "b" })).toBe("served");
  });
});
