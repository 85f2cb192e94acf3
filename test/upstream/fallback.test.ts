import { describe, expect, test } from "bun:test";
import { ApiError } from "../../src/core/errors.ts";
import { Fallback, type Served } from "../../src/upstream/fallback.ts";
import { BREAKERS_MAX, SERVERS_MAX } from "../../src/upstream/known-servers.ts";
import { RouteFailure } from "../../src/upstream/route-failure.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { silent } from "../support/silent-log.ts";

const idle = new AbortController().signal;

interface Asked {
  readonly account: string;
  readonly subject?: string;
  /** What each server does, by its name. */
  readonly servers?: Readonly<Record<string, () => Promise<string>>>;
}

const works = () => Promise.resolve("served");
const fails = () => Promise.reject(new RouteFailure("500"));
const isAway = () => Promise.reject(new RouteFailure("ECONNREFUSED", "connection"));

function setUp(concurrencyMax = 100) {
  const clock = new FakeClock();
  const fallback = new Fallback({ clock, log: silent });
  const first = ({ account, subject = "model", servers = { one: works } }: Asked) =>
    fallback.first({
      candidates: Object.entries(servers).map(([name, run]) => ({
        server: { name, baseUrl: "", concurrencyMax },
        run,
      })),
      attempt: ({ run }) => run(),
      take: (served) => served,
      account,
      signal: idle,
      subject,
      message: "Nobody answers",
    });
  /** The code of the error, or what was served. */
  const outcome = async (asked: Asked) => {
    try {
      const served = await first(asked);
      served.use.end("ok");
      return served.result;
    } catch (error) {
      return error instanceof ApiError ? error.code : String(error);
    }
  };
  /** Slots that are held until the test gives them back. */
  const hold = async (account: string, count: number) => {
    const held: Served<unknown, string>[] = [];
    for (let taken = 0; taken < count; taken += 1) held.push(await first({ account }));
    return held;
  };
  return { clock, first, outcome, hold };
}

describe("one account's failing requests", () => {
  test("do not take the server from others", async () => {
    const { outcome } = setUp();
    for (let times = 0; times < 50; times += 1) {
      await outcome({ account: "bad", servers: { one: fails } });
    }
    expect(await outcome({ account: "good" })).toBe("served");
  });

  test("of one model do not take other models of the server away, whoever makes them", async () => {
    const { outcome } = setUp();
    for (let times = 0; times < 9; times += 1) {
      await outcome({ account: `acct_${times}`, subject: "broken", servers: { one: fails } });
    }
    expect(await outcome({ account: "good", subject: "broken" })).toBe("upstream_unreachable");
    expect(await outcome({ account: "good", subject: "other" })).toBe("served");
  });

  test("that fail at every server are the requests' fault", async () => {
    const { outcome } = setUp();
    const servers = { one: fails, two: fails };
    for (let times = 0; times < 30; times += 1) await outcome({ account: `a${times}`, servers });
    expect(await outcome({ account: "good" })).toBe("served");
    // Where another server serves it, the first one is to blame.
    const stoodIn = { one: fails, two: works };
    for (let times = 0; times < 5; times += 1) {
      expect(await outcome({ account: `a${times}`, servers: stoodIn })).toBe("served");
    }
    expect(await outcome({ account: "good" })).toBe("upstream_unreachable");
  });
});

test("a server that cannot be reached is given up, whoever asked", async () => {
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

  test("go to another server before anybody waits", async () => {
    const { hold, outcome } = setUp(1);
    await hold("a", 1);
    expect(await outcome({ account: "b", servers: { one: fails, two: works } })).toBe("served");
  });

  test("are given back once, however often an end is told", async () => {
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

describe("what is remembered of servers", () => {
  const askOthers = async (
    outcome: (asked: Asked) => Promise<string>,
    count: number,
    otherOf: (number: number) => Pick<Asked, "subject" | "servers">,
  ) => {
    for (let number = 0; number < count; number += 1) {
      await outcome({ account: "a", ...otherOf(number) });
    }
  };

  test("ends with the failures used longest ago, beyond so many subjects", async () => {
    const { outcome } = setUp();
    for (let asked = 0; asked < 5; asked += 1) {
      await outcome({ account: "a", servers: { one: isAway } });
    }
    expect(await outcome({ account: "a" })).not.toBe("served");
    await askOthers(outcome, BREAKERS_MAX, (number) => ({ subject: `model ${number}` }));
    expect(await outcome({ account: "a" })).toBe("served");
  });

  test("ends with the slots used longest ago, beyond so many servers", async () => {
    const { hold, outcome } = setUp(1);
    await hold("a", 1);
    await askOthers(outcome, SERVERS_MAX, (number) => ({ servers: { [`${number}`]: works } }));
    expect(await outcome({ account: "b" })).toBe("served");
  });
});
