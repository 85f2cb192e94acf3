import { expect, test } from "bun:test";
import { AbandonedStreams } from "../../../../src/services/chat/abandoned-streams.ts";
import { FakeClock } from "../../../support/fakes/fake-clock.ts";

const KEY = { accountId: "acct_1", keyId: "key_1" };

const { signal } = new AbortController();
const clock = new FakeClock();

/** A key with this limit of requests a minute that has left this many streams. */
async function restless({ requests = 60, left = 21 } = {}) {
  const streams = new AbandonedStreams(clock);
  const turn = (by = signal) => streams.turn(KEY, requests, by);
  for (let count = 0; count < left; count += 1) (await turn()).abandon();
  return turn;
}

const CASES = [
  { requests: 20, allowed: 20 },
  { requests: 300, allowed: 20 },
  { requests: 1_000, allowed: 100 },
  { requests: 10_000, allowed: 1_000 },
];
for (const { requests, allowed } of CASES) {
  test(`a key of ${requests} requests a minute may leave ${allowed} streams a minute`, async () => {
    const free = await restless({ requests, left: allowed });
    await free();
    expect(await free()).toBeDefined();
    const slow = await restless({
      requests,
      left: allowed + Math.max(1, Math.floor(requests / 200)),
    });
    const first = await slow();
    const second = slow();
    expect(Bun.peek.status(second)).toBe("pending");
    first.end();
    expect(await second).toBeDefined();
  });
}

test("a turn goes to the next stream if the first one leaves at that moment", async () => {
  const turn = await restless();
  const leaving = new AbortController();
  const first = await turn();
  const second = turn(leaving.signal);
  const third = turn();
  leaving.abort();
  first.end();
  await expect(second).rejects.toThrow("The caller left");
  (await third).end();
});

test("all waiting streams begin at the first turn that ends after the minute", async () => {
  const turn = await restless();
  const first = await turn();
  const waiting = [turn(), turn(), turn()];
  clock.advance(60_000);
  first.end();
  expect(await Promise.all(waiting)).toHaveLength(3);
});

test("the keys of an account may leave as many streams together as five of them", async () => {
  const streams = new AbandonedStreams(clock);
  const turn = (key: number, accountId = "acct_1") =>
    streams.turn({ accountId, keyId: `key_${key}` }, 20, signal);
  for (let left = 0; left < 100; left += 1) (await turn(left % 10)).abandon();
  await turn(11);
  for (let left = 0; left < 5; left += 1) (await turn(left)).abandon();
  const first = await turn(12);
  const second = turn(13);
  expect(await turn(14, "acct_2")).toBeDefined();
  expect(Bun.peek.status(second)).toBe("pending");
  first.end();
  expect(await second).toBeDefined();
});
