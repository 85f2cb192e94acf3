// Tests the markers of idempotency keys in Redis: whatever happens to a call and its process, its
// key is charged once.

import { describe, expect, test } from "bun:test";
import type { Decision, Hold, WholeResponse } from "../../../actors/account.ts";
import { termsToText } from "../../../actors/detached-hold.ts";
import { markerKey } from "../../../actors/records/keys.ts";
import { loadMarkers } from "../../../actors/scripts/wallet-scripts.ts";
import { deliverStored } from "../../../actors/waiting-settlement.ts";
import { IDEMPOTENCY } from "../../../src/core/access/limits.ts";
import { newId } from "../../../src/core/ids.ts";
import { outcomeText } from "../../../src/core/journal/journal.ts";
import { markerOf } from "../../../src/core/journal/marker.ts";
import { WaitingSettlements } from "../../../src/store/ledger/waiting-settlements.ts";
import { sweepExpired } from "../../../workers/sweep.ts";
import { eventually } from "../../support/eventually.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { found } from "../../support/stores/audit-lab.ts";
import { expectSound } from "../../support/stores/ledger-checks.ts";
import { holdIn, holdsIn, messageIn, refusalIn, verdictIn } from "../../support/stores/verdicts.ts";
import {
  accountIn,
  ask,
  balances,
  DONE,
  hold,
  openAccount,
  openAccountAlone,
  openWorld,
  usd,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const PAID = { paid: "10", free: "0" };

interface Keyed {
  readonly key?: string;
  readonly body?: string;
  /** The secrets of the process, the current one first. */
  readonly secrets?: readonly string[];
  readonly bound?: string;
  readonly stream?: boolean;
}

function markersOf(account: TestAccount, { key = "order-1", body = "{}", secrets = ["a"] }: Keyed) {
  const request = {
    accountId: account.row.id,
    idempotencyKey: key,
    digest: body,
  };
  return secrets.map((secret) => markerOf(secret, request));
}

/** Asks for the admission of a call with an idempotency key. */
function admit(
  account: TestAccount,
  keyed: Keyed = {},
  actor: Pick<TestAccount["actor"], "admit"> = account.actor,
): Promise<Decision> {
  const markers = markersOf(account, keyed);
  const { bound = "2", stream = false } = keyed;
  return actor.admit(ask(account.keyId, usd(bound), { markers, stream }));
}

async function held(account: TestAccount, keyed: Keyed = {}): Promise<Hold> {
  return holdIn(await admit(account, keyed));
}

async function again(account: TestAccount, keyed: Keyed = {}): Promise<string> {
  return verdictIn(await admit(account, keyed));
}

/** Lets the leases of this process end, and sweeps. */
async function sweep({ actor }: TestAccount): Promise<void> {
  const { leases } = actor.keys;
  for (const owner of await world.redis.hkeys(leases)) {
    await world.redis.hset(leases, owner, Date.now() - 1);
  }
  await sweepExpired({ scripts: world.accounts.scripts });
}

/** Keeps a settlement of a dollar in Postgres, as if Redis were away, and delivers it. */
async function deliverKept(account: TestAccount, hold: Hold): Promise<void> {
  const waiting = new WaitingSettlements(world.database);
  await waiting.keep({
    requestId: hold.id,
    accountId: account.row.id,
    owner: world.accounts.leases.owner,
    hold: termsToText(hold.detached),
    cost: usd("1"),
    outcome: outcomeText(DONE),
    unused: "[]",
  });
  const deliver = () => waiting.deliver((one) => deliverStored(account.actor, one));
  expect(await deliver()).toMatchObject({ failures: [] });
}

async function expectPaid(account: TestAccount, left: string): Promise<void> {
  expect((await balances(account)).paid).toBe(usd(left));
  await expectSound(world, account);
  expect(await found(world, account)).toBe("");
}

describe("a key", () => {
  test("is in progress while its call runs, and charged after that, in every process", async () => {
    const account = await openAccount(world, PAID);
    const other = accountIn(world.process(), account).actor;
    const hold = await held(account);
    const running = await admit(account, {}, other);
    expect(running).toMatchObject({
      verdict: "refused",
      error: { code: "idempotency_in_progress", retryAfterSeconds: 1 },
    });
    await hold.settle(usd("1"), DONE);
    const charged = await admit(account, {}, other);
    expect(charged).toMatchObject({ error: { code: "idempotency_already_charged" } });
    expect(messageIn(charged)).toContain(`/v1/receipts/${hold.id}`);
    expect(await again(account)).toBe("idempotency_already_charged");
    expect(await again(account, { body: "{ }" })).toBe("idempotency_key_mismatch");
    await expectPaid(account, "9");
  });

  test("is free again after a call that was not charged", async () => {
    const account = await openAccount(world, PAID);
    for (const end of ["release", "settle"] as const) {
      const hold = await held(account);
      if (end === "release") await hold.release(DONE);
      else await hold.settle(usd("0"), DONE);
    }
    const hold = await held(account, { body: "another" });
    await hold.settle(usd("1"), DONE);
    await expectPaid(account, "9");
  });

  test("of a call that was refused for money is free", async () => {
    const account = await openAccount(world, PAID);
    expect(await again(account, { bound: "11" })).toBe("insufficient_credits");
    const hold = await held(account, { bound: "9" });
    await hold.settle(usd("9"), DONE);
    // A repeat is told of its charge, although the balance would not cover it.
    expect(await again(account, { bound: "9" })).toBe("idempotency_already_charged");
    await expectPaid(account, "1");
  });

  test("belongs to one account", async () => {
    const [one, other] = [await openAccount(world, PAID), await openAccount(world, PAID)];
    await (await held(one)).settle(usd("1"), DONE);
    await (await held(other)).settle(usd("1"), DONE);
    await expectPaid(other, "9");
  });

  test("is taken by one of 100 calls of two processes", async () => {
    const account = await openAccount(world, { ...PAID, contract: "enterprise" });
    const processes = [world.process(), world.process()].map(
      (process) => accountIn(process, account).actor,
    );
    const decisions = await Promise.all(
      Array.from({ length: 100 }, (_, n) => admit(account, {}, processes[n % 2])),
    );
    const admitted = holdsIn(decisions);
    expect(admitted).toHaveLength(1);
    const refused = decisions.map(verdictIn).filter((one) => one !== "admitted");
    expect([...new Set(refused)]).toEqual(["idempotency_in_progress"]);
    await admitted[0]?.settle(usd("1"), DONE);
    await expectPaid(account, "9");
  });

  test("made with the secret before the current one still counts", async () => {
    const account = await openAccount(world, PAID);
    await (await held(account, { secrets: ["old"] })).settle(usd("1"), DONE);
    const secrets = ["new", "old"];
    expect(await again(account, { secrets })).toBe("idempotency_already_charged");
    expect(await again(account, { secrets, body: "else" })).toBe("idempotency_key_mismatch");
    expect(await again(account, { secrets, key: "order-2" })).toBe("admitted");
  });

  test("is kept for a day from its admission, and not longer by its end", async () => {
    const account = await openAccount(world, PAID);
    const hold = await held(account);
    const name = markerKey(account.row.bucket, hold.detached.metadata.slice(-46, -2));
    await world.redis.pexpire(name, 60_000);
    await hold.settle(usd("1"), DONE);
    const left = await world.redis.pttl(name);
    expect(left).toBeGreaterThan(30_000);
    expect(left).toBeLessThanOrEqual(60_000);
    await world.redis.pexpire(name, 1);
    await Bun.sleep(5);
    expect(await again(account)).toBe("admitted");
  });

  test("is a digest in Redis and the journal, never a text", async () => {
    const account = await openAccountAlone(world, PAID);
    const keyed = { key: "canary-key-7", body: "canary-body-7" };
    const hold = await held(account, keyed);
    await hold.settle(usd("1"), DONE);
    for (const name of await world.redis.keys("*")) {
      expect(name).not.toContain("canary");
      const kind = await world.redis.type(name);
      const bytes = kind === "string" ? await world.redis.getBuffer(name) : null;
      expect(bytes?.toString("latin1") ?? "").not.toContain("canary");
    }
    const journal = await world.redis.xrangeBuffer(account.actor.keys.events, "-", "+");
    expect(Buffer.concat(journal.flatMap(([, fields]) => fields)).toString()).not.toContain(
      "canary",
    );
  });
});

describe("after a process that is gone", () => {
  test("a swept call that cost nothing frees its key, and charges nothing late", async () => {
    const account = await openAccount(world, PAID);
    const dead = await held(account);
    expect(await again(account)).toBe("idempotency_in_progress");
    await sweep(account);
    const second = await held(account);
    await second.settle(usd("1"), DONE);
    // The first process returns, and has an answer to charge for.
    expect(await dead.settle(usd("2"), DONE)).toMatchObject({ charged: usd("0") });
    await expectPaid(account, "9");
    expect(await again(account)).toBe("idempotency_already_charged");
  });

  test("a swept call whose late end charges it takes its key back", async () => {
    const account = await openAccount(world, PAID);
    const late = await held(account);
    await sweep(account);
    expect(await late.settle(usd("1"), DONE)).toMatchObject({ charged: usd("1") });
    const refused = await admit(account);
    expect(refused).toMatchObject({ error: { code: "idempotency_already_charged" } });
    expect(await again(account, { body: "else" })).toBe("idempotency_key_mismatch");
    await expectPaid(account, "9");
  });

  test("a stream that was charged by its checkpoint keeps its key", async () => {
    const account = await openAccount(world, PAID);
    const stream = await held(account, { stream: true });
    stream.checkpoint(usd("0.5"));
    await world.accounts.renewLeases();
    await sweep(account);
    expect(await again(account)).toBe("idempotency_already_charged");
    await stream.settle(usd("0.75"), DONE);
    expect(await again(account)).toBe("idempotency_already_charged");
    await expectPaid(account, "9.25");
  });

  test("a stream whose late end gives all back frees its key", async () => {
    const account = await openAccount(world, PAID);
    const stream = await held(account, { stream: true });
    stream.checkpoint(usd("0.5"));
    await world.accounts.renewLeases();
    await sweep(account);
    await stream.settle(usd("0"), DONE);
    await (await held(account, { body: "else" })).settle(usd("1"), DONE);
    await expectPaid(account, "9");
  });

  test("a settlement that Postgres kept marks its key, unless another call has it", async () => {
    const account = await openAccount(world, PAID);
    const one = await held(account);
    await deliverKept(account, one);
    expect(await again(account)).toBe("idempotency_already_charged");
    const two = await held(account, { key: "two" });
    await sweep(account);
    await (await held(account, { key: "two" })).settle(usd("1"), DONE);
    await deliverKept(account, two);
    await expectPaid(account, "8");
  });
});

describe("after a loss of Redis", () => {
  test("the charged keys of the last day come back from Postgres, and only those", async () => {
    const account = await openAccountAlone(world, PAID);
    const charged = await held(account, { key: "charged" });
    await charged.settle(usd("1"), DONE);
    await (await held(account, { key: "released" })).release(DONE);
    await held(account, { key: "open" });
    await world.flush();
    await (await held(account, { key: "unflushed" })).settle(usd("1"), DONE);
    await world.redis.flushall();
    const refused = await admit(account, { key: "charged" });
    expect(refused).toMatchObject({ error: { code: "idempotency_already_charged" } });
    expect(messageIn(refused)).toContain(charged.id);
    expect(await again(account, { key: "charged", body: "else" })).toBe("idempotency_key_mismatch");
    // The operator lost this charge with Redis (D-294), so the customer may be charged now.
    expect(await again(account, { key: "unflushed" })).toBe("admitted");
    expect(await again(account, { key: "released" })).toBe("admitted");
    expect(await again(account, { key: "open" })).toBe("admitted");
    const name = markerKey(account.row.bucket, markersOf(account, { key: "charged" })[0] ?? "");
    const left = await world.redis.pttl(name);
    expect(left).toBeGreaterThan(IDEMPOTENCY.markerMs - 60_000);
    expect(left).toBeLessThanOrEqual(IDEMPOTENCY.markerMs);
  });

  test("keys that were charged longer ago than a day stay free", async () => {
    const account = await openAccountAlone(world, PAID);
    await (await held(account)).settle(usd("1"), DONE);
    await world.flush();
    await world.database.sql`
      UPDATE request_log SET at = at - interval '25 hours' WHERE account = ${account.row.number}`;
    await world.redis.flushall();
    expect(await again(account)).toBe("admitted");
  });

  test("a marker of an epoch before is no marker: Postgres decides", async () => {
    const account = await openAccountAlone(world, PAID);
    await (await held(account, { key: "charged" })).settle(usd("1"), DONE);
    await held(account, { key: "open" });
    await world.flush();
    await world.accounts.rebuild([{ bucket: account.row.bucket }]);
    expect(await again(account, { key: "open" })).toBe("admitted");
    expect(await again(account, { key: "charged" })).toBe("idempotency_already_charged");
  });

  test("hundreds of keys come back, whoever asks first", async () => {
    const account = await openAccountAlone(world, { ...PAID, contract: "enterprise" });
    await (await held(account)).settle(usd("1"), DONE);
    await world.flush();
    const { sql } = world.database;
    const markers = Array.from(
      { length: 1_200 },
      (_, n) => markersOf(account, { key: `k${n}` })[0],
    );
    await sql`
      INSERT INTO request_log SELECT (jsonb_populate_record(row, jsonb_build_object(
        'marker', other.marker, 'request', gen_random_uuid()))).*
      FROM request_log row, string_to_table(${markers.join(" ")}, ' ') AS other (marker)
      WHERE account = ${account.row.number} AND row.marker IS NOT NULL`;
    await world.redis.flushall();
    const keys = ["k0", "k499", "k500", "k1199", "order-1"];
    const verdicts = await Promise.all(keys.map((key) => again(account, { key })));
    expect(new Set(verdicts)).toEqual(new Set(["idempotency_already_charged"]));
  });
});

describe("the calls of one response", () => {
  const asked = async (account: TestAccount, partOf: WholeResponse, requestId?: string) => {
    const markers = markersOf(account, {});
    const facts = { markers, partOf, ...(requestId !== undefined && { requestId }) };
    return await hold(account, usd("2"), facts);
  };
  const wholeOf = (untilMs = Date.now() + 600_000): WholeResponse => ({
    requestId: newId("request", random),
    untilMs,
  });
  const messageOf = async (account: TestAccount) => messageIn(await admit(account));

  test("share a key, which is in progress until the last one has ended", async () => {
    const account = await openAccount(world, PAID);
    const whole = wholeOf();
    await (await asked(account, whole, whole.requestId)).settle(usd("1"), DONE);
    expect(await again(account)).toBe("idempotency_in_progress");
    expect(await again(account, { body: "{ }" })).toBe("idempotency_key_mismatch");
    const second = await asked(account, whole);
    const third = await asked(account, whole);
    expect(await again(account)).toBe("idempotency_in_progress");
    await second.release(DONE);
    expect(await again(account)).toBe("idempotency_in_progress");
    await third.settle(usd("1"), DONE);
    expect(await again(account)).toBe("idempotency_in_progress");
    await account.actor.endResponse(whole, markersOf(account, {}));
    expect(await again(account)).toBe("idempotency_already_charged");
    const message = await messageOf(account);
    expect(message).toContain(whole.requestId);
    expect(message).toContain(third.id);
    expect(message).not.toContain(second.id);
    await expectPaid(account, "8");
  });

  test("keep the key if their process dies between them", async () => {
    const account = await openAccount(world, PAID);
    const whole = wholeOf(Date.now() + 1_000);
    await (await asked(account, whole, whole.requestId)).settle(usd("1"), DONE);
    await eventually("the time of the response is over", async () => {
      return (await again(account)) === "idempotency_already_charged";
    });
    expect(await messageOf(account)).toContain(`/v1/receipts/${whole.requestId}`);
    await expectPaid(account, "9");
  });

  test("keep the key if their process dies in one of them", async () => {
    for (const saved of [usd("0"), usd("0.5")]) {
      const account = await openAccount(world, PAID);
      const whole = wholeOf();
      await (await asked(account, whole, whole.requestId)).settle(usd("1"), DONE);
      const second = await asked(account, whole);
      second.checkpoint(saved);
      await world.accounts.renewLeases();
      await sweep(account);
      expect(await again(account)).toBe("idempotency_already_charged");
      expect((await messageOf(account)).includes(second.id)).toBe(saved > usd("0"));
    }
  });

  test("that cost nothing free the key with the last one that can be charged", async () => {
    const account = await openAccount(world, PAID);
    const whole = wholeOf();
    // The response's own call cost nothing: the key is claimed by those that follow.
    const [second, third] = [await asked(account, whole), await asked(account, whole)];
    await second.release(DONE);
    expect(await again(account)).toBe("idempotency_in_progress");
    await third.release(DONE);
    const other = await held(account);
    await expect(asked(account, whole)).rejects.toThrow("idempotency_in_progress");
    await other.settle(usd("1"), DONE);
    await account.actor.endResponse(whole, markersOf(account, {}));
    expect(await messageOf(account)).toContain(other.id);
    await expectPaid(account, "9");
  });

  test("that come back after another request took the key charge nothing", async () => {
    const account = await openAccount(world, PAID);
    const whole = wholeOf();
    const first = await asked(account, whole, whole.requestId);
    await sweep(account);
    await (await held(account)).settle(usd("1"), DONE);
    expect((await first.settle(usd("1"), DONE)).charged).toBe(usd("0"));
    await expect(asked(account, whole)).rejects.toThrow("idempotency_already_charged");
    await expectPaid(account, "9");
  });

  test("that settle late have the key again, and name each", async () => {
    const account = await openAccount(world, PAID);
    const whole = wholeOf();
    await (await asked(account, whole, whole.requestId)).settle(usd("1"), DONE);
    const second = await asked(account, whole);
    await sweep(account);
    expect((await second.settle(usd("1"), DONE)).charged).toBe(usd("1"));
    const message = await messageOf(account);
    expect(message).toContain(whole.requestId);
    expect(message).toContain(second.id);
    await expectPaid(account, "8");
  });

  test("that Postgres kept know their response: its key stays in progress", async () => {
    const account = await openAccount(world, PAID);
    const whole = wholeOf();
    await deliverKept(account, await asked(account, whole, whole.requestId));
    expect(await again(account)).toBe("idempotency_in_progress");
    await account.actor.endResponse(whole, markersOf(account, {}));
    expect(await again(account)).toBe("idempotency_already_charged");
    await expectPaid(account, "9");
  });

  test("that Postgres kept are charged, although the sweep ended their holds", async () => {
    const account = await openAccount(world, PAID);
    const whole = wholeOf();
    await (await asked(account, whole, whole.requestId)).settle(usd("1"), DONE);
    const second = await asked(account, whole);
    await sweep(account);
    await deliverKept(account, second);
    expect(await messageOf(account)).toContain(second.id);
    await expectPaid(account, "8");
  });

  test("are all named after a loss of Redis", async () => {
    const account = await openAccountAlone(world, PAID);
    const whole = wholeOf();
    await (await asked(account, whole, whole.requestId)).settle(usd("1"), DONE);
    const second = await asked(account, whole);
    await second.settle(usd("1"), DONE);
    await world.flush();
    await world.redis.flushall();
    const message = await messageOf(account);
    // Two calls of one millisecond have no order in Postgres, so either may stand as the first.
    expect(message).toMatch(/; its receipt is at \/v1\/receipts\/req_/);
    expect(message).toContain(whole.requestId);
    expect(message).toContain(second.id);
  });
});

test("markers that are loaded in parts count when the last part is there", async () => {
  const account = await openAccountAlone(world, PAID);
  await (await held(account)).settle(usd("1"), DONE);
  await world.flush();
  await world.redis.flushall();
  const { wallet } = await account.actor.state();
  const part = { ...account.actor.subject(), epoch: wallet.epoch, markers: [], isLast: false };
  // Another process has loaded a first part.
  expect(await world.accounts.scripts.run(loadMarkers, part)).toBe("ok");
  expect(await again(account)).toBe("idempotency_already_charged");
});

test("an account has a bounded number of keys a day; uncharged calls do not count", async () => {
  const account = await openAccount(world, PAID);
  const name = `{b${account.row.bucket}}:limit:${account.row.id}:idempotency_keys`;
  const counted = async () => (await world.redis.getBuffer(name))?.readDoubleLE(8);
  await (await held(account)).release(DONE);
  expect(await counted()).toBe(0);
  await (await held(account)).settle(usd("0"), DONE);
  expect(await counted()).toBe(0);
  await (await held(account)).settle(usd("1"), DONE);
  expect(await counted()).toBe(1);
  const bytes = await world.redis.getBuffer(name);
  bytes?.writeDoubleLE(IDEMPOTENCY.keysPerDay, 8);
  await world.redis.set(name, bytes ?? "");
  const refused = await admit(account, { key: "order-2" });
  expect(refused).toMatchObject({ error: { code: "too_many_idempotency_keys" } });
  expect(refusalIn(refused).error.retryAfterSeconds).toBeGreaterThan(0);
  const request = ask(account.keyId, usd("1"));
  expect((await account.actor.admit(request)).verdict).toBe("admitted");
});
