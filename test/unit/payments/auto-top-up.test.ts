import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { AccountActors } from "../../../actors/account-actors.ts";
import type { TopUpNeed } from "../../../actors/top-up-trigger.ts";
import { HOUR_MS } from "../../../src/core/durations.ts";
import { autoSettingsOf, disableAuto, enableAuto } from "../../../src/payments/auto-settings.ts";
import { type AutoDeps, topUpAutomatically } from "../../../src/payments/auto-top-up.ts";
import { removeOwnCard } from "../../../src/payments/cards.ts";
import type { TopUp } from "../../../src/store/payments/top-ups.ts";
import { completePayments } from "../../../workers/payment-completer.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { refusalCode } from "../../support/stores/postgres-world.ts";
import { messageIn } from "../../support/stores/verdicts.ts";
import { receive, storedEvents } from "../../support/stores/webhook-lab.ts";
import {
  accountIn,
  ask,
  balances,
  DONE,
  fewAtOnce,
  hold,
  usd,
} from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

const lab = await shared(openPaymentLab());
beforeEach(() => {
  lab.aheadMs = 0;
});

function autoDeps(): AutoDeps {
  return { ...lab.payments, actors: lab.world.accounts };
}

/** A process whose actors have each need checked at once, without a queue that would merge them. */
function process(checks: Promise<TopUp | null>[], deps = autoDeps()): AccountActors {
  const needed = async (need: TopUpNeed) => void checks.push(topUpAutomatically(deps, need));
  const topUps = {
    needed,
    lost: (_: string, error: unknown) => {
      throw error;
    },
  };
  return lab.world.process({ topUps });
}

interface Terms {
  readonly card?: string;
  readonly amount?: string;
  readonly below?: string;
  readonly month?: string;
  readonly contract?: "enterprise";
}

/** An account that paid $20 and is topped up by $10 below $5. */
async function automatic(terms: Terms = {}): Promise<TestAccount> {
  const account = await lab.account();
  const { contract } = terms;
  if (contract !== undefined) await lab.world.store.change(account.row, { contract }, new Date());
  await lab.pay(account, "20", terms.card);
  await lab.settle();
  await enableAuto(lab.payments, account.row, {
    amount: usd(terms.amount ?? "10"),
    threshold: usd(terms.below ?? "5"),
    monthlyCap: usd(terms.month ?? "100"),
    cardId: null,
  });
  return account;
}

/** Makes a call of this cost; the free credit does not pay it. */
async function spend(actors: AccountActors, account: TestAccount, cost: string) {
  const { actor, keyId } = accountIn(actors, account);
  const decision = await actor.admit(ask(keyId, usd(cost), { freeEligible: false }));
  if (decision.verdict === "admitted") await decision.hold.settle(usd(cost), DONE);
  return decision;
}

async function automaticOnes({ row }: TestAccount): Promise<readonly TopUp[]> {
  const all = await lab.payments.topUps.list(row.number);
  return all.filter(({ kind }) => kind === "auto");
}

/** Counts the sandbox's charges for an account, paid or not. */
function charges(account: TestAccount): number {
  const intents = lab.sandbox.actions.store
    .list("payment_intent")
    .filter(
      ({ metadata }) => (metadata as Record<string, string>).farebox_account === account.row.id,
    );
  const ids = new Set(intents.map(({ id }) => id));
  return lab.sandbox.actions.store
    .list("charge")
    .filter(({ payment_intent }) => ids.has(String(payment_intent))).length;
}

/** Spends below the threshold in one process, and waits for the charges of its checks. */
async function cross(account: TestAccount, cost = "16", deps = autoDeps()) {
  const checks: Promise<TopUp | null>[] = [];
  await spend(process(checks, deps), account, cost);
  const made = await Promise.all(checks);
  return made.find((one) => one !== null) ?? null;
}

describe("an automatic top-up", () => {
  test("charges the card once the paid balance falls below the threshold", async () => {
    const account = await automatic();
    expect(await cross(account, "15")).toBeNull();
    expect(await cross(account, "0.01")).toMatchObject({ status: "succeeded", kind: "auto" });
    expect((await balances(account)).paid).toBe(usd("14.99"));
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("30"));
  });

  test("charges for a refused call that the amount would admit, and only for one", async () => {
    const account = await automatic();
    const checks: Promise<TopUp | null>[] = [];
    const actors = process(checks);
    const refused = await spend(actors, account, "25");
    expect(refused).toMatchObject({ verdict: "refused" });
    expect(messageIn(refused)).toEndWith("an automatic top-up is under way");
    expect(refused).toMatchObject({ error: { retryAfterSeconds: expect.any(Number) } });
    expect(await Promise.all(checks)).toMatchObject([{ status: "succeeded" }]);
    expect((await spend(actors, account, "25")).verdict).toBe("admitted");
    const tooMuch = await automatic();
    const none: Promise<TopUp | null>[] = [];
    await spend(process(none), tooMuch, "30.01");
    expect(none).toEqual([]);
  });

  test("counts amounts held by open calls as part of the balance", async () => {
    const account = await automatic();
    const open = await hold(account, usd("18"), { freeEligible: false });
    expect(await cross(account, "1")).toBeNull();
    await open.release(DONE);
  });

  test("of 500 calls at once over two processes charges once for each crossing", async () => {
    const account = await automatic({ contract: "enterprise" });
    const checks: Promise<TopUp | null>[] = [];
    const processes = [process(checks), process(checks)] as const;
    const calls = Array.from({ length: 500 }, (_, index) => processes[index % 2] ?? processes[0]);
    const verdicts = await fewAtOnce(calls, (actors) => spend(actors, account, "0.032"));
    expect(verdicts.filter(({ verdict }) => verdict !== "admitted")).toEqual([]);
    await Promise.all(checks);
    await lab.settle();
    expect(checks.length).toBeGreaterThan(1);
    expect(charges(account)).toBe(2);
    expect(await automaticOnes(account)).toMatchObject([{ status: "succeeded" }]);
    expect((await balances(account)).paid).toBe(usd("14"));
    lab.aheadMs += 61_000;
    await cross(account, "9.5");
    expect(charges(account)).toBe(3);
    expect((await balances(account)).paid).toBe(usd("14.5"));
  });
});

describe("its caps", () => {
  test("keep two automatic top-ups 60 seconds apart", async () => {
    const account = await automatic();
    expect(await cross(account)).not.toBeNull();
    expect(await cross(account, "10")).toBeNull();
    lab.aheadMs += 61_000;
    expect(await cross(account, "0.01")).not.toBeNull();
  });

  test("end at the holder's own cap of the month", async () => {
    const account = await automatic({ month: "15" });
    expect(await cross(account)).not.toBeNull();
    lab.aheadMs += 61_000;
    expect(await cross(account, "10")).toBeNull();
    expect(await automaticOnes(account)).toHaveLength(1);
  });

  test("allow five in 24 hours", async () => {
    const account = await automatic({ contract: "enterprise", month: "1000" });
    await cross(account);
    for (let more = 2; more <= 7; more += 1) {
      lab.aheadMs += 61_000;
      await cross(account, "10");
    }
    expect(await automaticOnes(account)).toHaveLength(5);
  });

  test("of the tier are checked when it is set up", async () => {
    const account = await lab.account();
    const terms = { amount: usd("10"), threshold: usd("5"), monthlyCap: usd("100"), cardId: null };
    const enable = (more: object) =>
      refusalCode(enableAuto(lab.payments, account.row, { ...terms, ...more }));
    expect(await enable({})).toBe("no_card");
    await lab.pay(account, "20");
    await lab.settle();
    expect(await enable({ amount: usd("50.01") })).toBe("too_large");
    expect(await enable({ threshold: usd("10.01") })).toBe("too_large");
    expect(await enable({ monthlyCap: usd("9.99") })).toBe("too_large");
    expect(await enable({ monthlyCap: usd("100.01") })).toBe("too_large");
    expect(await enable({})).toBe("done");
  });
});

describe("a failed automatic charge", () => {
  test("is tried once more after an hour; the second failure pauses", async () => {
    const account = await automatic({ card: CARDS.laterDeclined });
    await receive(lab.world, account, { url: "http://127.0.0.1:1/", events: ["topup.failed"] });
    expect(await cross(account)).toMatchObject({ status: "open", attempts: 2 });
    // Events of the failure do not count as a second failure.
    await lab.settle();
    const complete = () => completePayments({ payments: lab.payments, graceMs: 0, log: silent });
    await complete();
    expect(await automaticOnes(account)).toMatchObject([{ status: "open", attempts: 2 }]);
    lab.aheadMs += HOUR_MS + 1_000;
    await complete();
    expect(await automaticOnes(account)).toMatchObject([
      { status: "failed", failure: "generic_decline" },
    ]);
    const state = { state: "paused", reason: "card_failed" };
    expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject(state);
    expect(await lab.credited(account)).toBe(usd("20"));
    expect(await cross(account, "0.01")).toBeNull();
    // One event for each failure: the first names the next attempt, the last none.
    const [made] = await automaticOnes(account);
    const failed = {
      top_up: made?.id,
      kind: "auto",
      amount_usd: "10",
      failure: "generic_decline",
    };
    expect(await storedEvents(lab.world.database, account)).toEqual([
      ["topup.failed", { ...failed, next_attempt_at: expect.any(String) }],
      ["topup.failed", { ...failed, next_attempt_at: null }],
    ]);
  });

  test("that the holder would have to authenticate pauses at once", async () => {
    const account = await automatic({ card: CARDS.laterAuthentication });
    expect(await cross(account)).toMatchObject({ status: "failed" });
    const state = { state: "paused", reason: "authentication_required" };
    expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject(state);
  });

  test("that the bank forbids to repeat pauses at once; the next payment resumes", async () => {
    const account = await automatic();
    const { name } = lab.payments.provider;
    const [card] = await lab.payments.cards.list(account.row.number, name);
    lab.sandbox.actions.store.setBehaviour(card?.ref ?? "", "stolen");
    expect(await cross(account)).toMatchObject({ status: "failed", failure: "stolen_card" });
    expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject({ state: "paused" });
    await lab.pay(account, "10");
    await lab.settle();
    expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject({ state: "enabled" });
  });

  test("whose money arrives late is credited once", async () => {
    const account = await automatic({ card: CARDS.laterAuthentication });
    const failed = await cross(account);
    const { actions } = lab.sandbox;
    const { name } = lab.payments.provider;
    const [card] = await lab.payments.cards.list(account.row.number, name);
    actions.confirm(failed?.intent ?? "", card?.ref ?? "", "ok");
    await lab.settle();
    await lab.settle();
    expect(await automaticOnes(account)).toMatchObject([{ status: "succeeded" }]);
    expect(await lab.credited(account)).toBe(usd("30"));
  });
});

describe("an automatic top-up ends if", () => {
  const pausedBy = async (act: (intent: string) => void) => {
    const account = await automatic();
    const [first] = await lab.payments.topUps.list(account.row.number);
    act(first?.intent ?? "");
    await lab.settle();
    return account;
  };

  test("a refund, a dispute, an inquiry and a warning of fraud each pause it", async () => {
    const { actions } = lab.sandbox;
    const acts: readonly (readonly [string, (intent: string) => void])[] = [
      ["refund", (intent) => void actions.refund(intent, 100)],
      ["dispute", (intent) => void actions.dispute(intent, "needs_response")],
      ["dispute", (intent) => void actions.dispute(intent, "warning_needs_response")],
      ["fraud_warning", (intent) => void actions.warn(intent)],
    ];
    for (const [reason, act] of acts) {
      const account = await pausedBy(act);
      const state = { state: "paused", reason };
      expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject(state);
      expect(await cross(account)).toBeNull();
    }
  });

  test("an old refund does not pause a setting that its holder enabled again", async () => {
    const account = await pausedBy((intent) => void lab.sandbox.actions.refund(intent, 100));
    const terms = { amount: usd("10"), threshold: usd("5"), monthlyCap: usd("100"), cardId: null };
    await enableAuto(lab.payments, account.row, terms);
    const [first] = await lab.payments.topUps.list(account.row.number);
    const { provider } = lab.payments;
    for await (const event of provider.listEvents(new Date(Date.now() - HOUR_MS))) {
      if (event.object !== "refund") continue;
      await lab.payments.events.receive({ ...event, id: `${event.id}_again` });
    }
    await completePayments({ payments: lab.payments, graceMs: -60_000, log: silent });
    expect(first?.status).toBe("succeeded");
    expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject({ state: "enabled" });
  });

  test("its card is removed, or its holder ends it", async () => {
    const account = await automatic();
    const { name } = lab.payments.provider;
    const [card] = await lab.payments.cards.list(account.row.number, name);
    await removeOwnCard(lab.payments, account.row, card?.id ?? "");
    const state = { state: "paused", reason: "card_removed" };
    expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject(state);
    expect(await cross(account)).toBeNull();
    const other = await automatic();
    expect(await disableAuto(lab.payments, other.row)).toBe(true);
    expect(await cross(other)).toBeNull();
  });
});

test("without its customer at the provider it charges nothing, and it is paused", async () => {
  const account = await automatic();
  const { cards, provider } = lab.payments;
  const customer = await cards.customer(account.row.number, provider.name);
  await cards.forgetCustomer(provider.name, customer ?? "");
  expect(await cross(account)).toMatchObject({ status: "failed", failure: "not_made" });
  const state = { state: "paused", reason: "card_failed" };
  expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject(state);
  expect(charges(account)).toBe(1);
});

class Killed extends Error {}

/** The stages at which the worker dies, as deps whose work ends there without any clean-up. */
const STAGES: Readonly<Record<string, (deps: AutoDeps) => AutoDeps>> = {
  "before the provider is asked": (deps) => ({
    ...deps,
    provider: { ...deps.provider, chargeCard: () => Promise.reject(new Killed()) },
  }),
  "after the provider has charged": (deps) => ({
    ...deps,
    provider: {
      ...deps.provider,
      chargeCard: async (terms) => {
        await deps.provider.chargeCard(terms);
        throw new Killed();
      },
    },
  }),
  "before the answer is stored": (deps) => ({
    ...deps,
    provider: { ...deps.provider, readPayment: () => Promise.reject(new Killed()) },
  }),
};

test("a failure whose event comes before its lost answer counts once", async () => {
  const account = await automatic({ card: CARDS.laterDeclined });
  const dying = STAGES["after the provider has charged"]?.(autoDeps());
  await expect(cross(account, "16", dying)).rejects.toBeInstanceOf(Killed);
  await lab.settle();
  expect(await automaticOnes(account)).toMatchObject([{ status: "open", attempts: 1 }]);
  lab.aheadMs += 61_000;
  await completePayments({ payments: lab.payments, graceMs: 0, log: silent });
  expect(await automaticOnes(account)).toMatchObject([{ status: "open", attempts: 2 }]);
  expect(charges(account)).toBe(2);
});

const ROUNDS = Bun.env.FAREBOX_LONG === "1" ? 34 : 2;

for (const [stage, dying] of Object.entries(STAGES)) {
  test(`a worker that dies ${stage} charges once and credits once`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      lab.aheadMs = 0;
      const account = await automatic();
      const died = await cross(account, "16", dying(autoDeps())).catch((error: unknown) => error);
      expect(died).toBeInstanceOf(Killed);
      // A second need meanwhile charges nothing.
      expect(await cross(account, "0.01")).toBeNull();
      lab.aheadMs += 61_000;
      const completer = { payments: lab.payments, graceMs: 0, log: silent };
      await Promise.all([completePayments(completer), completePayments(completer)]);
      await lab.settle();
      expect(charges(account)).toBe(2);
      expect(await automaticOnes(account)).toMatchObject([{ status: "succeeded" }]);
      expect(await lab.credited(account)).toBe(usd("30"));
    }
  });
}
