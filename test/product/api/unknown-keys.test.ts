// Tests the cost for Postgres and Redis of a key that this process never saw: it may be made up.

import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { keyDigest, newKey } from "../../../src/core/access/keys.ts";
import { errorOf, PEPPER } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { tapScripts } from "../../support/product/actor-process.ts";
import { random } from "../../support/random.ts";
import { keyDirectory } from "../../support/stores/world.ts";

/** The number of statements that looked keys up. */
let lookUps = 0;
let scripts = 0;

const api = await sharedApi();
beforeAll(async () => {
  const { database, redis } = api.parts.stores;
  const select = database.db.select.bind(database.db) as (fields?: object) => unknown;
  const counted = (fields?: object) => {
    if (fields !== undefined && "keyId" in fields) lookUps += 1;
    return select(fields);
  };
  Object.defineProperty(database.db, "select", { value: counted });
  tapScripts(redis, (send) => {
    scripts += 1;
    return send();
  });
});
beforeEach(async () => {
  lookUps = 0;
});

const madeUp = () => ({ key: newKey("gateway", random) });
const guess = (key = madeUp()) => api.get("/v1/me", key);

test("made-up keys are looked up as often as their address may try, and no more", async () => {
  const answers = await Promise.all(Array.from({ length: 200 }, () => guess()));
  const told = answers.map(({ status }) => status).sort();
  expect(told).toEqual([...Array(60).fill(401), ...Array(140).fill(429)]);
  expect(lookUps).toBeGreaterThanOrEqual(60);
  // The other 140 share four statements a second; those are few, however slow the test is.
  expect(lookUps).toBeLessThan(80);
});

test("a made-up key is counted once", async () => {
  const left = async (response: Promise<Response>) =>
    Number((await response).headers.get("x-ratelimit-remaining-requests"));
  const key = madeUp();
  expect(await left(guess(key))).toBe(59);
  expect(await left(guess(key))).toBe(58);
  expect(lookUps).toBe(1);
});

test("a valid key that is new here is served while others guess from its address", async () => {
  const account = await api.account();
  await Promise.all(Array.from({ length: 60 }, () => guess()));
  let guessing = true;
  const guesser = (async () => {
    while (guessing) await Promise.all(Array.from({ length: 20 }, () => guess()));
  })();
  const response = await api.get("/v1/me", account);
  expect(response.status).toBe(200);
  guessing = false;
  await guesser;
  expect((await errorOf(await guess())).code).toBe("rate_limit_exceeded");
});

test("more keys than can wait together must be sent again, and are found then", async () => {
  const account = await api.account();
  const digest = keyDigest(account.key, PEPPER);
  const directory = keyDirectory(api.parts.stores.database, PEPPER);
  const noTurn = async () => false;
  const crowd = Array.from({ length: 256 }, (_, n) => directory.find([`made up ${n}`], noTurn));
  await Promise.resolve();
  const refusal = { code: "service_unavailable", retryAfterSeconds: 1 };
  await expect(directory.find([digest], noTurn)).rejects.toMatchObject(refusal);
  expect(await Promise.all(crowd)).toEqual(crowd.map(() => null));
  expect(lookUps).toBe(1);
  expect(await directory.find([digest], noTurn)).toMatchObject({ keyId: account.keyId });
});

test("a known key costs one script, the admission's", async () => {
  const account = await api.account();
  expect((await api.get("/v1/me", account)).status).toBe(200);
  scripts = 0;
  expect((await api.get("/v1/me", account)).status).toBe(200);
  const known = scripts;
  scripts = 0;
  await api.view(account);
  // The answer needs one more reading, and the hold of nothing is given back.
  expect(known - scripts).toBe(2);
  expect(lookUps).toBe(1);
});

test("callers with one new key at the same time share its statement and its count", async () => {
  const account = await api.account();
  const answers = await Promise.all(Array.from({ length: 8 }, () => api.get("/v1/me", account)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(lookUps).toBe(1);
  const madeUpKey = madeUp();
  const refused = await Promise.all(Array.from({ length: 8 }, () => guess(madeUpKey)));
  expect(refused.every(({ status }) => status === 401)).toBe(true);
  expect(lookUps).toBe(2);
  // One for the valid key, and one for each of the refused.
  const last = await guess();
  expect(last.headers.get("x-ratelimit-remaining-requests")).toBe("50");
});

describe("a revoked key costs the same work as an unknown one:", () => {
  /** The cost of one request: statements that look keys up, and scripts. */
  async function costOf(key: { readonly key: string }): Promise<readonly [number, number]> {
    const before = [lookUps, scripts] as const;
    expect((await errorOf(await guess(key))).code).toBe("invalid_api_key");
    return [lookUps - before[0], scripts - before[1]];
  }
  const never = async () => {
    const key = madeUp();
    return [await costOf(key), await costOf(key)];
  };

  test("one that this process never saw", async () => {
    const account = await api.account();
    await api.revoke(account);
    expect([await costOf(account), await costOf(account)]).toEqual(await never());
  });

  test("one that this process has served, from the second request on", async () => {
    const account = await api.account();
    expect((await api.get("/v1/me", account)).status).toBe(200);
    await api.revoke(account);
    expect((await errorOf(await guess(account))).code).toBe("invalid_api_key");
    expect([await costOf(account), await costOf(account)]).toEqual(await never());
  });

  test("one that it has served on a path without a key", async () => {
    const account = await api.account();
    expect((await api.get("/v1/models", account)).status).toBe(200);
    await api.revoke(account);
    expect((await api.get("/v1/models", account)).status).toBe(200);
    expect([await costOf(account), await costOf(account)]).toEqual(await never());
  });
});
