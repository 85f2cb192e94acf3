// Tests names and texts that are cached from call to call: each call must get its own.

import { expect, test } from "bun:test";
import { KeyTexts } from "../../../actors/records/key-texts.ts";
import {
  accountKeys,
  CALL_KEYS_MAX,
  callKeys,
  holdsKey,
  keyStateKey,
  MAIL_OWNER,
} from "../../../actors/records/keys.ts";
import { FixedParts, plainParts } from "../../../actors/redis/fixed-parts.ts";
import { BUCKETS } from "../../../src/core/access/limits.ts";
import { metadataText } from "../../../src/core/journal/journal.ts";
import { type Asked, ask, usd } from "../../support/stores/world.ts";

test("a call uses the names of its own bucket, key and owner, however many there are", () => {
  const [one, other] = [accountKeys("acct_a", 3), accountKeys("acct_b", 4)];
  for (let round = 0; round < 2; round += 1) {
    for (let key = 0; key <= CALL_KEYS_MAX; key += 1) {
      for (const owner of ["proc_a", MAIL_OWNER]) {
        const { parts } = callKeys({ keys: one, keyId: `key_${key}`, owner });
        expect(parts).toEqual([
          "{b3}:bucket",
          "{b3}:account:acct_a",
          keyStateKey(3, `key_${key}`),
          holdsKey(3, owner),
          "{b3}:events",
        ]);
      }
      expect(one.calls.size).toBeLessThanOrEqual(CALL_KEYS_MAX);
    }
    expect(callKeys({ keys: other, keyId: "key_0", owner: "proc_a" }).parts[2]).toBe(
      "{b4}:key:key_0",
    );
  }
});

test("cached parts are sent as the same parts one by one", () => {
  const parts = ["FCALL", "schlüssel", "", "\r\n$5\r\n", "a😀b", "{b3}:events"];
  const bulks = parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  expect(new FixedParts(parts).bytes.toString()).toBe(bulks.join(""));
  expect(plainParts(["first", new FixedParts(parts), "last"])).toEqual(["first", ...parts, "last"]);
});

test("the name of a hold's hash is that of its bucket and owner, whatever was named before", () => {
  for (const owner of ["proc_a", MAIL_OWNER, "proc_b", "proc_a"]) {
    for (const bucket of [0, 7, BUCKETS - 1, 7]) {
      expect(holdsKey(bucket, owner)).toBe(`{b${bucket}}:holds:${owner}`);
    }
  }
  expect(() => holdsKey(BUCKETS, "proc_a")).toThrow(RangeError);
});

test("a call's text has its own metadata, whichever field differs from the call before", () => {
  const run = { id: "task-1", max: null, seconds: 60, step: null };
  const first = {
    endpoint: "/v1/chat/completions",
    service: "models",
    model: "small",
    country: "AT",
    ipHash: "00ff",
    priceVersion: "1a2b",
    run: null,
    endUser: null,
    markers: null,
  } satisfies Asked;
  const others: Asked[] = [
    { ...first, endpoint: "/v1/search" },
    { ...first, service: "search" },
    { ...first, model: null },
    { ...first, country: "DE" },
    { ...first, ipHash: "00fe" },
    { ...first, priceVersion: undefined },
    { ...first, markers: ["0011"] },
    { ...first, run },
    { ...first, run: { ...run, step: "plan" } },
    { ...first, askedModel: "auto" },
    { ...first, askedModel: "auto", run, markers: ["0011"] },
  ];
  const texts = new KeyTexts("acct_a", "key_b");
  for (const one of others.flatMap((other) => [first, { ...first }, other, first])) {
    const { markers, priceVersion = null, ...same } = { ...first, ...one };
    const marker = markers?.[0];
    const text = metadataText({
      ...same,
      priceVersion,
      marker,
      run: one.run?.id,
      step: one.run?.step,
    });
    const made = texts.of(ask("key_b", usd("1"), one), marker);
    expect(made).toEqual({ metadata: text, text: `acct_a\tkey_b\t${text}` });
  }
});
