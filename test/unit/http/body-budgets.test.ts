// Tests budgets of bodies: for the bytes in memory, and for the bytes that a key sends in a minute.

import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../src/core/durations.ts";
import { ApiError } from "../../../src/core/errors.ts";
import {
  BODY_BYTES_AT_ONCE,
  BodyShares,
  KEY_BYTES_A_MINUTE,
  KEY_VALUES_A_MINUTE,
  KEYS_EACH,
  PROCESS_BYTES_AT_ONCE,
  SMALL_BODY_BYTES,
} from "../../../src/http/body/body-shares.ts";
import { MinuteBudget, SENDERS_MAX } from "../../../src/http/body/minute-budget.ts";

const BODY = 4 * 1024 * 1024;

const large = (key: string, nowMs = 0) => ({ key, nowMs });

function refusalOf(take: () => void): ApiError {
  try {
    take();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("It was not refused");
}

describe("bytes on their way", () => {
  test("of one account are bounded whatever its keys", () => {
    const shares = new BodyShares();
    for (let taken = 0; taken < BODY_BYTES_AT_ONCE; taken += BODY) {
      shares.of("account", large(`key_${taken}`)).take(BODY);
    }
    refusalOf(() => shares.of("account").take(1));
  });

  test("of a process are bounded, and yet a sender without an open body may have one", () => {
    const shares = new BodyShares();
    for (let taken = 0; taken < PROCESS_BYTES_AT_ONCE; taken += BODY_BYTES_AT_ONCE) {
      shares.of(`account_${taken}`).take(BODY_BYTES_AT_ONCE);
    }
    const share = shares.of("other", large("key"));
    share.take(BODY);
    refusalOf(() => shares.of("other").take(BODY));
    share.end();
    shares.of("other").take(BODY);
  });

  test("of others, however many, leave room for small bodies at the same time", () => {
    const shares = new BodyShares();
    for (let sent = 0; sent < PROCESS_BYTES_AT_ONCE; sent += BODY) {
      shares.of(`stranger_${sent}`).take(BODY);
    }
    for (let at = 0; at < 100; at += 1) shares.of("account").take(SMALL_BODY_BYTES);
  });

  test("of twelve senders leave room for several large bodies of another", () => {
    const shares = new BodyShares();
    const takeAll = (sender: string) => {
      let taken = 0;
      try {
        for (; ; taken += 1) shares.of(sender, large(sender)).take(BODY / 32);
      } catch {
        return taken;
      }
    };
    for (let sender = 0; sender < 12; sender += 1) takeAll(`account_${sender}`);
    expect(takeAll("victim")).toBeGreaterThan(1);
  });
});

describe("in a minute", () => {
  test("the bytes of a key's large bodies are limited", () => {
    const shares = new BodyShares();
    for (let sent = 0; sent < KEY_BYTES_A_MINUTE; sent += BODY) {
      const share = shares.of("account", large("key"));
      share.take(BODY);
      share.end();
    }
    const refused = refusalOf(() => shares.of("account", large("key", 20_000)).take(1));
    expect([refused.code, refused.retryAfterSeconds]).toEqual(["rate_limit_exceeded", 40]);
    shares.of("account", large("other")).take(1);
    shares.of("account", large("key", MINUTE_MS)).take(1);
  });

  test("the values in a key's large bodies are limited", () => {
    const shares = new BodyShares();
    shares.of("account", large("key")).countValues(KEY_VALUES_A_MINUTE);
    shares.of("account", large("key")).take(1);
    shares.of("account", large("key")).countValues(1);
    expect(refusalOf(() => shares.of("account", large("key")).take(1)).message).toContain("values");
    shares.of("account", large("key", MINUTE_MS)).take(1);
  });

  test("the keys of an account may together send as many bytes as five of them", () => {
    const shares = new BodyShares();
    const send = (key: string, nowMs = 0) => {
      const share = shares.of("account", large(key, nowMs));
      share.take(BODY);
      share.end();
    };
    const most = (KEYS_EACH * KEY_BYTES_A_MINUTE) / BODY;
    for (let sent = 0; sent < most; sent += 1) send(`key_${sent}`);
    expect(refusalOf(() => send("one more")).code).toBe("rate_limit_exceeded");
    shares.of("other", large("its key")).take(BODY);
    send("one more", MINUTE_MS);
  });

  test("the keys of an account may together send as many values as five of them", () => {
    const shares = new BodyShares();
    const send = (key: string) => shares.of("account", large(key)).countValues(KEY_VALUES_A_MINUTE);
    for (let sent = 0; sent < KEYS_EACH; sent += 1) send(`key_${sent}`);
    shares.of("account", large("one more")).take(1);
    send("one more");
    const refused = refusalOf(() => shares.of("account", large("and one more")).take(1));
    expect(refused.message).toContain("together");
    shares.of("other", large("its key")).take(1);
  });

  test("a bounded number of senders is counted, and then the first is forgotten", () => {
    const budget = new MinuteBudget({ most: 1, refusal: "Too much" });
    for (let sender = 0; sender < SENDERS_MAX; sender += 1) budget.take(`s${sender}`, 1, 0);
    refusalOf(() => budget.take("s0", 1, 0));
    budget.take("more", 1, 0);
    budget.take("s0", 1, 0);
    refusalOf(() => budget.take("s9", 1, 0));
  });
});
