import { describe, expect, test } from "bun:test";
import { Slots } from "../../../src/upstream/slots.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";

const never = new AbortController().signal;

function setUp(max: number) {
  const clock = new FakeClock();
  const slots = new Slots(max);
  const take = (account: string, times: number) =>
    Array.from({ length: times }, () => slots.take(account)).filter(Boolean).length;
  const wait = (account: string, forMs = 2_000, signal = never) =>
    slots.wait(account, { clock, forMs, signal });
  return { clock, slots, take, wait };
}

describe("the slots of a server", () => {
  test("leave a third of the free ones for others, however many an account wants", () => {
    const { take } = setUp(99);
    const wanting = ["greedy", "other", "third", "fourth", "fifth"];
    expect(wanting.map((account) => take(account, 200))).toEqual([66, 22, 8, 2, 1]);
  });

  test("have one free for a newcomer, however long three accounts keep all that they get", () => {
    for (const max of [32, 64, 256]) {
      const { take } = setUp(max);
      for (const account of ["a", "b", "c"]) take(account, max);
      expect(take("newcomer", 1)).toBe(1);
    }
  });

  test("can all go to one account if there are too few to share", () => {
    expect(setUp(1).take("one", 5)).toBe(1);
    expect(setUp(2).take("one", 5)).toBe(2);
  });

  test("go to the waiting account with the fewest, among equals by arrival", async () => {
    const { slots, take, wait } = setUp(3);
    take("a", 2);
    take("b", 1);
    const order: string[] = [];
    const waiting = ["a", "c", "d"].map(async (account) => {
      if (await wait(account)) order.push(account);
    });
    slots.giveBack("a");
    slots.giveBack("b");
    slots.giveBack("a");
    await Promise.all(waiting);
    expect(order).toEqual(["c", "d", "a"]);
  });

  test("are not taken by a newcomer while another waits with no more slots", async () => {
    const { slots, take, wait } = setUp(3);
    take("a", 2);
    take("b", 1);
    const waiting = wait("c");
    expect(slots.take("d")).toBe(false);
    slots.giveBack("b");
    expect(await waiting).toBe(true);
    expect(slots.take("d")).toBe(false);
  });

  test("are waited for only a limited time, and not by a caller who has left", async () => {
    const { clock, slots, take, wait } = setUp(1);
    take("a", 1);
    const late = wait("b", 2_000);
    const gone = new AbortController();
    const left = wait("c", 2_000, gone.signal);
    gone.abort();
    expect(await left).toBe(false);
    clock.advance(2_000);
    expect(await late).toBe(false);
    slots.giveBack("a");
    expect(slots.take("d")).toBe(true);
  });

  test("are waited for by four times as many as there are, and no more", async () => {
    const { take, wait } = setUp(2);
    take("a", 2);
    const waiting = Array.from({ length: 8 }, (_, index) => wait(`acct_${index}`));
    expect(await wait("more")).toBe(false);
    expect(waiting).toHaveLength(8);
  });

  test("can be waited for by others, however many of one account wait", async () => {
    const { slots, take, wait } = setUp(3);
    take("greedy", 2);
    take("busy", 1);
    const waiting = Array.from({ length: 12 }, () => wait("greedy"));
    const other = wait("other");
    // The last request of the busy account gives its place up.
    expect(await waiting.at(-1)).toBe(false);
    slots.giveBack("busy");
    expect(await other).toBe(true);
  });

  test("can become fewer or more while requests are in progress", async () => {
    const { slots, take, wait } = setUp(3);
    take("a", 2);
    take("b", 1);
    slots.resize(1);
    const waiting = wait("c");
    slots.giveBack("a");
    slots.giveBack("a");
    expect(slots.isFreeFor("c")).toBe(false);
    slots.resize(2);
    expect(await waiting).toBe(true);
  });
});
