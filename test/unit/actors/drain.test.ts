// Tests parallel calls on one balance from two processes: exactly as many pass as the balance pays
// for.

import { expect, setDefaultTimeout, test } from "bun:test";
import type { Decision } from "../../../actors/account.ts";
import type { AccountActors } from "../../../actors/account-actors.ts";
import { openProcess, tapScripts } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { expectSound } from "../../support/stores/ledger-checks.ts";
import { holdsIn, verdictIn } from "../../support/stores/verdicts.ts";
import {
  accountIn,
  ask,
  DONE,
  openAccount,
  openWorld,
  usd,
  walletOf,
} from "../../support/stores/world.ts";

const PARALLEL = 500;
const ROUNDS = Number(process.env.DRAIN_ROUNDS ?? 5);
setDefaultTimeout(60_000 * ROUNDS);
const BOUND = usd("0.37");
/** $5 free and $20 paid hold 67 times $0.37, and 21 cents more. */
const PASS = 67;
const LEFT = usd("0.21");
/**
 * The calls that the Max plan lets through in a minute; $20 hold 54 times $0.37, and 2 cents more.
 */
const PLAN_CALLS = 120;
const PLAN_PASS = 54;

const world = await shared(openWorld());

/** An account whose tier lets all calls of the test through its window. */
async function wideAccount(): Promise<TestAccount> {
  const account = await openAccount(world, { paid: "20" });
  await world.store.change(account.row, { contract: "enterprise" }, new Date());
  return account;
}

async function admitMany(accounts: AccountActors, account: TestAccount, calls: number) {
  const { actor } = accountIn(accounts, account);
  return await Promise.all(
    Array.from({ length: calls }, () => actor.admit(ask(account.keyId, BOUND))),
  );
}

async function expectDrained(account: TestAccount): Promise<void> {
  const { paid, free, heldPaid, heldFree } = await walletOf(account);
  expect(paid + free).toBe(LEFT);
  expect(heldPaid + heldFree).toBe(BOUND * BigInt(PASS));
}

async function settleAll(admissions: readonly Decision[]): Promise<void> {
  await Promise.all(holdsIn(admissions).map((hold) => hold.settle(BOUND, DONE)));
}

test("two processes on connections of their own never spend the same cent", async () => {
  await using one = openProcess(world);
  await using other = openProcess(world);
  for (let round = 0; round < ROUNDS; round++) {
    const account = await wideAccount();
    const halves = await Promise.all([
      admitMany(one.accounts, account, PARALLEL / 2),
      admitMany(other.accounts, account, PARALLEL / 2),
    ]);
    const admissions = halves.flat();
    expect(holdsIn(admissions)).toHaveLength(PASS);
    const refused = admissions.map(verdictIn).filter((one) => one !== "admitted");
    expect(refused).toEqual(Array(PARALLEL - PASS).fill("insufficient_credits"));
    await expectDrained(account);
    await settleAll(admissions);
    await expectSound(world, account);
    const { paid, free } = await walletOf(account);
    expect(paid + free).toBe(LEFT);
  }
});

test("two keys of an application account on two processes never spend the same cent", async () => {
  await using other = openProcess(world);
  for (let round = 0; round < ROUNDS; round++) {
    const terms = { surface: "application", plan: "max", paid: "20" } as const;
    const account = await openAccount(world, terms);
    const second = await world.store.createKey(account.row, {
      name: "second",
      scopes: ["models"],
      ipAllowlist: [],
      monthlyLimit: null,
    });
    const halves = await Promise.all([
      admitMany(world.accounts, account, PLAN_CALLS / 2),
      admitMany(other.accounts, { ...account, keyId: second.id }, PLAN_CALLS / 2),
    ]);
    const verdicts = halves.flat().map(verdictIn);
    expect(verdicts.filter((one) => one === "admitted")).toHaveLength(PLAN_PASS);
    const refused = verdicts.filter((one) => one !== "admitted");
    expect(refused).toEqual(Array(PLAN_CALLS - PLAN_PASS).fill("insufficient_credits"));
    await settleAll(halves.flat());
    await expectSound(world, account);
    const { paid, free } = await walletOf(account);
    expect([paid, free]).toEqual([usd("0.02"), usd("0")]);
  }
});

test("calls that end while others start pass as often as their real costs allow", async () => {
  await using other = openProcess(world);
  const account = await wideAccount();
  let charged = 0n;
  const use = async (accounts: AccountActors) => {
    const { actor } = accountIn(accounts, account);
    for (let call = 0; call < 40; call++) {
      const admission = await actor.admit(ask(account.keyId, BOUND));
      if (admission.verdict !== "admitted") continue;
      const settled = await admission.hold.settle(usd("0.3"), DONE);
      charged += settled.charged;
    }
  };
  await Promise.all(
    [world.accounts, other.accounts].flatMap((accounts) => [use(accounts), use(accounts)]),
  );
  const { paid, free } = await walletOf(account);
  expect(paid + free + charged).toBe(usd("25"));
  expect(paid + free < BOUND).toBe(true);
  await expectSound(world, account);
});

test("admissions that a reconnect sends again hold once each", async () => {
  await using cut = openProcess(world);
  const account = await wideAccount();
  await walletOf(accountIn(cut.accounts, account));
  // The first answer arrives last: all requests in flight are sent again, in their order.
  const inFlight: (() => Promise<unknown>)[] = [];
  let resent: Promise<unknown[]> | null = null;
  tapScripts(cut.redis, async (send) => {
    if (resent !== null) return await send();
    const index = inFlight.push(send) - 1;
    await send();
    resent ??= Promise.all(inFlight.map((again) => again()));
    return (await resent)[index];
  });
  const admissions = await admitMany(cut.accounts, account, PARALLEL);
  expect(holdsIn(admissions)).toHaveLength(PASS);
  await expectDrained(account);
});

/** A process of the operating system that waits for the signal to start. */
async function spawnDrainer(account: TestAccount) {
  const script = `${import.meta.dir}/drain-process.ts`;
  const { id, bucket } = account.row;
  const facts = [id, String(bucket), account.keyId, String(PARALLEL / 2), BOUND.toString()];
  const child = Bun.spawn([process.execPath, script, world.redisUrl, world.databaseUrl, ...facts], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read();
  return async () => {
    child.stdin.write("go\n");
    await child.stdin.end();
    const { value } = await lines.read();
    await child.exited;
    return Number(value);
  };
}

test("two processes of the operating system never spend the same cent", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const account = await wideAccount();
    const drains = await Promise.all([1, 2].map(() => spawnDrainer(account)));
    const admitted = await Promise.all(drains.map((go) => go()));
    expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(PASS);
    await expectDrained(account);
  }
});
