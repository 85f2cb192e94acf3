// Tests that digests of keys do not depend on the peppers used before.

import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { keyDigest, keyDigests, newKey } from "../../../../src/core/access/keys.ts";
import { random } from "../../../support/random.ts";

test("a digest is the HMAC of its key and pepper, whatever was digested before", () => {
  const keys = [newKey("gateway", random), newKey("application", random)];
  const peppers = ["the pepper of today", "the pepper before", "the pepper of today"];
  for (const key of keys) {
    for (const pepper of peppers) {
      const expected = createHmac("sha256", pepper).update(key).digest("hex");
      expect(keyDigest(key, pepper)).toBe(expected);
      expect(keyDigest(key, pepper)).toBe(expected);
    }
  }
});

test("while a pepper is replaced a key has a digest under each, the current one first", () => {
  const key = newKey("gateway", random);
  const digests = keyDigests(key, ["current", "previous"]);
  expect(digests).toEqual([keyDigest(key, "current"), keyDigest(key, "previous")]);
  expect(keyDigests(key, ["previous"])).toEqual([keyDigest(key, "previous")]);
});
