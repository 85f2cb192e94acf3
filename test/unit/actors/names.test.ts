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
import { metadataText, parseMetadata } from "../../../src/core/journal/journal.ts";
import { markerIn } from "../../../src/core/journal/marker.ts";
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
    endUserDigest: undefined,
    endpoint: "/v1/chat/completions",
    service: "models",
    model: "small",
    country: "AT",
    ipHash: "00ff",
    priceVersion: "1a2b",
    run: null,
    endUser: null,
    markers: null,
  } satisfies Asked & { readonly endUserDigest?: string | undefined };
  const others: (Asked & { readonly endUserDigest?: string | undefined })[] = [
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
    { ...first, endUserDigest: "kPrK_qmxVWaYVA9wwBF6Iu" },
    { ...first, run, endUserDigest: "kPrK_qmxVWaYVA9wwBF6Iu", markers: ["0011"] },
  ];
  const texts = new KeyTexts("acct_a", "key_b");
  for (const one of others.flatMap((other) => [first, { ...first }, other, first])) {
    const { markers, endUserDigest, priceVersion = null, ...same } = { ...first, ...one };
    const marker = markers?.[0];
    const text = metadataText({
      ...same,
      priceVersion,
      marker,
      run: one.run?.id,
      step: one.run?.step,
      endUser: endUserDigest,
    });
    const made = texts.of(ask("key_b", usd("1"), one), marker, endUserDigest);
    expect(made).toEqual({ metadata: text, text: `acct_a\tkey_b\t${text}` });
  }
});

test("metadata says what its call names, and which marker the call claims", () => {
  const plain = {
    endpoint: "/v1/search",
    service: "search",
    model: null,
    country: null,
    ipHash: null,
    priceVersion: "1a2b",
  } as const;
  const marker = "m".repeat(44);
  const endUser = "kPrK_qmxVWaYVA9wwBF6Iu";
  for (const named of [
    {},
    { run: "task-1", step: null },
    { run: "task-1", step: "plan" },
    { endUser },
    { run: "task-1", step: null, endUser },
    { run: "task-1", step: "plan", endUser },
    { askedModel: "auto" },
    // It has the form of a marker.
    { askedModel: "n".repeat(44) },
    { run: "task-1", step: "plan", askedModel: '"]', endUser },
  ]) {
    for (const claimed of [{}, { marker }]) {
      const metadata = { ...plain, ...claimed, ...named };
      const text = metadataText(metadata);
      expect(parseMetadata(text)).toEqual(metadata);
      expect(markerIn(text)).toBe("marker" in claimed ? marker : null);
    }
  }
});
