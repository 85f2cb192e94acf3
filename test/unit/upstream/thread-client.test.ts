// Tests the guarantees for requests to a worker thread: a reply or an error, in bounded time and
// memory.

import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { ThreadClient } from "../../../src/upstream/thread-client.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventually } from "../../support/eventually.ts";
import type { EchoRequest, EchoSetup } from "../../support/fakes/echo-thread.ts";
import { FakeClock, realClock } from "../../support/fakes/fake-clock.ts";

type Client = ThreadClient<EchoSetup, EchoRequest, string, string>;

const ENDED = "RouteFailure: The test thread ended";

const started: Client[] = [];
afterEach(() => {
  for (const client of started.splice(0)) client.close();
});

function clientOf({
  clock = realClock,
  setup = {},
  thread = "echo-thread",
  pendingMax = 3,
}: {
  clock?: typeof realClock;
  setup?: EchoSetup;
  thread?: string;
  pendingMax?: number;
} = {}) {
  const events: string[] = [];
  const lines: unknown[] = [];
  const starts: string[] = [];
  const note = (fields: object, message: string) => void lines.push([message, fields]);
  const client: Client = new ThreadClient({
    name: "The test thread",
    start: () => {
      starts.push(thread);
      return new Worker(new URL(`../../support/fakes/${thread}.ts`, import.meta.url));
    },
    setup,
    pendingMax,
    openMs: 60_000,
    silenceMs: 20_000,
    restartMs: 1_000,
    onEvent: (event) => void events.push(event),
    clock,
    log: { info: () => {}, warn: note, error: note },
  });
  started.push(client);
  return { client, events, lines, starts };
}

const outcomeOf = (reply: Promise<string>) => reply.catch(String);
const limitsOf = (timeoutMs: number) => ({ timeoutMs, signal: new AbortController().signal });

test("each request gets its own reply, by one thread that starts when it is needed", async () => {
  const { client, starts } = clientOf({ setup: { prefix: "re: " } });
  expect([client.isReady, starts.length]).toEqual([false, 0]);
  const replies = ["a", "b", "c"].map((echo) => client.request({ echo }));
  expect(await Promise.all(replies)).toEqual(["re: a", "re: b", "re: c"]);
  expect([client.isReady, starts.length]).toEqual([true, 1]);
});

test("a thread without requests can be ended; another one serves the next request", async () => {
  const { client, starts, lines } = clientOf();
  const reply = client.request({ echo: "one" });
  client.endIfIdle();
  expect(await reply).toBe("one");
  expect(starts).toHaveLength(1);
  client.endIfIdle();
  expect(client.isReady).toBe(false);
  expect(await client.request({ echo: "two" })).toBe("two");
  expect(starts).toHaveLength(2);
  expect(lines).toEqual([]);
});

test("events and log lines of the thread arrive", async () => {
  const { client, events, lines } = clientOf();
  await client.request({ send: "news" });
  await client.request({ log: "words" });
  expect(events).toEqual(["news"]);
  expect(lines).toEqual([["A line of the thread", { text: "words" }]]);
});

test("an error fails only its request, and its message stays in the thread", async () => {
  const { client, starts } = clientOf();
  const failed = outcomeOf(client.request({ fail: "what was asked" }));
  expect(await client.request({ echo: "after" })).toBe("after");
  expect(await failed).toBe("RouteFailure: The test thread failed (RangeError)");
  expect(starts).toHaveLength(1);
});

test("accounts take turns, however many requests of one of them wait", async () => {
  const { client } = clientOf({ pendingMax: 6 });
  const replies: string[] = [];
  const asked = ["greedy 1", "greedy 2", "greedy 3", "greedy 4", "other 1", "other 2"];
  const requests = asked.map(async (echo) => {
    const [account] = echo.split(" ");
    replies.push(await client.request({ echo }, undefined, account));
  });
  await Promise.all(requests);
  const inTurn = ["greedy 1", "greedy 2", "other 1", "greedy 3", "other 2", "greedy 4"];
  expect(replies).toEqual(inTurn);
});

test("a request given up before its turn is never done, and keeps no place", async () => {
  const { client, events } = clientOf();
  const first = client.request({ echo: "first" });
  const caller = new AbortController();
  const limits = { timeoutMs: 5_000, signal: caller.signal };
  const left = [client.request({ send: "a" }, limits), client.request({ send: "b" }, limits)];
  caller.abort();
  expect(await Promise.all(left.map(outcomeOf))).toHaveLength(2);
  const next = [client.request({ send: "c" }), client.request({ send: "d" })];
  await Promise.all([first, ...next]);
  expect(events).toEqual(["c", "d"]);
});

test("more requests than may wait are refused at once, and blame no server", async () => {
  const { client } = clientOf({ thread: "silent-thread" });
  for (let count = 0; count < 3; count += 1) void outcomeOf(client.request({ echo: "x" }));
  const refused = client.request({ echo: "one too many" });
  await expect(refused).rejects.toMatchObject({
    message: "The test thread has more to do than it can in time",
    blames: "nobody",
  });
});

test("requests that wait for a thread that dies fail; later another thread starts", async () => {
  const clock = new FakeClock();
  const { client, lines, starts } = clientOf({ clock });
  const dying = outcomeOf(client.request({ die: true }));
  const behind = outcomeOf(client.request({ echo: "behind" }));
  expect([await dying, await behind]).toEqual([ENDED, ENDED]);
  expect(lines).toHaveLength(1);
  expect(await outcomeOf(client.request({ echo: "at once" }))).toContain("ended");
  expect([starts.length, clock.pending]).toEqual([1, 0]);
  clock.advance(1_000);
  expect(await client.request({ echo: "again" })).toBe("again");
  expect(starts).toHaveLength(2);
});

test("a thread that dies blames only the request that it worked on", async () => {
  const { client } = clientOf();
  const dying = rejection(client.request({ die: true }));
  const behind = rejection(client.request({ echo: "behind" }));
  expect(await dying).toMatchObject({ blames: "server" });
  expect(await behind).toMatchObject({ blames: "nobody" });
  expect(await rejection(client.request({ echo: "x" }))).toMatchObject({ blames: "nobody" });
});

test("a thread that cannot open fails the waiting requests, and logs the reason", async () => {
  const { client, lines } = clientOf({ setup: { isBroken: true } });
  const opening = client.open().catch(String);
  const asking = outcomeOf(client.request({ echo: "x" }));
  expect([await opening, await asking]).toEqual([ENDED, ENDED]);
  expect(JSON.stringify(lines)).toContain("the thread of a test cannot open");
  // Drizzle's errors list the values of the statement in the lines after the first.
  expect(JSON.stringify(lines)).not.toContain("a secret");
});

test("a request ends at its time limit and by its signal; the thread goes on", async () => {
  const clock = new FakeClock();
  const { client, starts } = clientOf({ clock });
  await client.open();
  const slow = outcomeOf(client.request({ echo: "late" }, limitsOf(5_000)));
  clock.advance(5_000);
  expect(await slow).toBe("RouteFailure: The test thread did not reply in time");
  const caller = new AbortController();
  const left = client.request({ echo: "left" }, { timeoutMs: 5_000, signal: caller.signal });
  caller.abort();
  expect(await outcomeOf(left)).toContain("did not reply in time");
  const gone = { timeoutMs: 5_000, signal: AbortSignal.abort() };
  expect(await outcomeOf(client.request({ echo: "gone" }, gone))).toContain("in time");
  await eventually("the thread replied to all", () => clock.pending === 0);
  expect(await client.request({ echo: "next" })).toBe("next");
  expect(starts).toHaveLength(1);
});

test("a thread that hangs is ended, even if no reply is needed any more", async () => {
  const clock = new FakeClock();
  const { client, lines } = clientOf({ clock });
  await client.open();
  const hanging = outcomeOf(client.request({ hang: true }, limitsOf(1_000)));
  clock.advance(1_000);
  expect(await hanging).toContain("did not reply in time");
  const behind = outcomeOf(client.request({ echo: "behind" }));
  clock.advance(19_000);
  expect(await behind).toBe(ENDED);
  expect(JSON.stringify(lines)).toContain("silent for 20000 ms");
  clock.advance(1_000);
  expect(await client.request({ echo: "again" })).toBe("again");
});

test("a thread that does not open in time is ended", async () => {
  const clock = new FakeClock();
  const { client, lines } = clientOf({ clock, thread: "silent-thread" });
  const opening = client.open().catch(String);
  clock.advance(60_000);
  expect(await opening).toBe(ENDED);
  expect(JSON.stringify(lines)).toContain("silent for 60000 ms");
});

test("after close() nothing waits, and nothing starts", async () => {
  const clock = new FakeClock();
  const { client, starts, lines } = clientOf({ clock, thread: "silent-thread" });
  const waiting = outcomeOf(client.request({ echo: "x" }));
  const opening = client.open().catch(String);
  client.close();
  expect([await waiting, await opening]).toEqual([ENDED, ENDED]);
  clock.advance(100_000);
  expect(await outcomeOf(client.request({ echo: "y" }))).toContain("ended");
  expect([starts.length, lines.length, clock.pending]).toEqual([1, 0, 0]);
});

test("without free files a thread is not started; the process goes on", async () => {
  const program = join(import.meta.dir, "../../support/fakes/full-files.ts");
  const command = `ulimit -n 200 && exec "${process.execPath}" "${program}"`;
  const child = Bun.spawn(["sh", "-c", command], { stdout: "pipe", stderr: "ignore" });
  const refused = ["The test thread was not started: too many files are open", ENDED];
  expect((await child.stdout.text()).trim().split("\n")).toEqual([
    ...refused,
    ...refused,
    "served",
  ]);
  expect(await child.exited).toBe(0);
});
