import { describe, expect, test } from "bun:test";
import type { StartedTopUpReply } from "../../../../src/console/money/top-ups.ts";
import { CONSENT_VERSION } from "../../../../src/core/money/consent.ts";
import { usd } from "../../../../src/core/money/money.ts";
import { attempt } from "../../../../src/payments/charge.ts";
import type {
  AutoTopUpReply,
  BillingReply,
  LeftCardsReply,
} from "../../../../src/readings/billing.ts";
import { accountPath, ConsoleWorld } from "../../../support/api/console-world.ts";
import { eventually } from "../../../support/eventually.ts";
import { shared } from "../../../support/shared.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { openBillingLab } from "../../../support/stores/billing-lab.ts";

const DECLINED_LATER = "4000000000000341";

/** Answers the next request of this path in place of the sandbox. */
let away: RegExp | null = null;
/** Called with the path of each request to the sandbox, before its answer. */
let meanwhile: ((path: string) => void) | null = null;

const lab = await shared(
  openBillingLab({
    intercept: async ({ path }) => {
      meanwhile?.(path);
      return away?.test(path) === true ? new Response("away", { status: 503 }) : null;
    },
  }),
);

async function billingOf(account: TestAccount): Promise<BillingReply> {
  return (await lab.world.get<BillingReply>("viewer", accountPath(account, "billing"))).body;
}

async function start(account: TestAccount, fields: object): Promise<StartedTopUpReply["top_up"]> {
  const path = accountPath(account, "top-ups/checkout");
  return (await lab.world.post<StartedTopUpReply>("billing", path, fields)).body.top_up;
}

async function ended(account: TestAccount, id: string): Promise<StartedTopUpReply["top_up"]> {
  const path = accountPath(account, `top-ups/${id}`);
  let top_up: StartedTopUpReply["top_up"] | undefined;
  await eventually(`the top-up ${id} has ended`, async () => {
    top_up = (await lab.world.get<StartedTopUpReply>("viewer", path)).body.top_up;
    return top_up.status !== "open";
  });
  if (top_up === undefined) throw new Error("There is no top-up");
  return top_up;
}

/** Redis has the credit some milliseconds after Postgres. */
async function credited(account: TestAccount, amount: string): Promise<void> {
  await eventually(`the balance is $${amount}`, async () => {
    return (await lab.paid(account)) === usd(amount);
  });
}

/** An account with $20 and a saved card. */
async function withCard(card?: string): Promise<TestAccount> {
  const account = await lab.world.account({ free: "0" });
  const { id, url } = await start(account, { amount_usd: "20", save_card: true });
  await lab.pay(url, card);
  await ended(account, id);
  await credited(account, "20");
  return account;
}

describe("a top-up on the provider's page", () => {
  test("is paid, leads back to the billing page, and is credited to the cent", async () => {
    const account = await lab.world.account({ free: "0" });
    const begun = await start(account, { amount_usd: "20.01" });
    expect(begun).toMatchObject({ kind: "checkout", status: "open", amount_usd: "20.01" });
    const back = `/dashboard/${account.id}/billing?top_up=${begun.id}`;
    expect(await lab.pay(begun.url)).toContain(`${lab.world.api.parts.url}${back}`);
    expect(await ended(account, begun.id)).toMatchObject({ status: "succeeded", url: null });
    await credited(account, "20.01");
    const { balance, payments, top_ups, cards, caps } = await billingOf(account);
    expect(balance).toMatchObject({ paid_usd: "20.01", owed_usd: "0", spendable_usd: "20.01" });
    expect(payments).toMatchObject([{ provider: "sandbox", amount_usd: "20.01" }]);
    expect(top_ups).toHaveLength(1);
    expect(cards).toEqual([]);
    expect(caps).toMatchObject({ min_usd: "5", at_once_usd: "100", now_usd: "100" });
  });

  test("requested twice with one id is one page", async () => {
    const account = await lab.world.account();
    const order = { amount_usd: "20", request: "the-first-order" };
    const [first, second] = await Promise.all([start(account, order), start(account, order)]);
    const third = await start(account, order);
    expect(new Set([first.id, second.id, third.id]).size).toBe(1);
    expect(third.url).toBe(first.url ?? second.url);
    expect((await billingOf(account)).top_ups).toHaveLength(1);
  });

  test.each([
    [{}, "amount_usd must be USD in a string"],
    [{ amount_usd: 20 }, "amount_usd must be USD in a string"],
    [{ amount_usd: "-5" }, "amount_usd must not be negative"],
    [{ amount_usd: "0" }, "amount_usd must be above zero"],
    [{ amount_usd: "20", save_card: "yes" }, "save_card must be true or false"],
    [{ amount_usd: "20", request: "x" }, "request must be an id of 8 to 64"],
    [{ amount_usd: "20", price: "1" }, "price"],
  ])("with %j is refused by name", async (fields, message) => {
    const account = await lab.world.account();
    const told = await lab.world.post("owner", accountPath(account, "top-ups/checkout"), fields);
    expect(told).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(told.message).toStartWith(message);
    expect((await billingOf(account)).top_ups).toEqual([]);
  });

  test.each([
    ["4.99", "A top-up of this account must be from $5 to $50, but is $4.99"],
    ["50.01", "A top-up of this account must be from $5 to $50, but is $50.01"],
    ["20.001", "$20.001 is not a whole number of cents"],
  ])("of $%s is refused in words", async (amount, message) => {
    const account = await lab.world.account();
    const path = accountPath(account, "top-ups/checkout");
    const told = await lab.world.post("owner", path, { amount_usd: amount });
    expect(told).toMatchObject({ status: 409, code: "too_large", message });
  });

  test("leaves its room in the day's cap to the next one, and billing shows that", async () => {
    const account = await lab.world.account();
    await start(account, { amount_usd: "46" });
    const { caps } = await billingOf(account);
    expect(caps).toMatchObject({ at_once_usd: "50", day_usd: "50", now_usd: "50", auto_usd: "0" });
    await start(account, { amount_usd: "5" });
    const { top_ups: both } = await billingOf(account);
    const expected = [
      { amount_usd: "5", status: "open" },
      { amount_usd: "46", status: "expired", url: null },
    ];
    expect(both).toMatchObject(expected);
  });

  test("is not made while the provider is away, and nothing is charged", async () => {
    const account = await lab.world.account();
    away = /checkout/;
    const path = accountPath(account, "top-ups/checkout");
    const order = { amount_usd: "20", request: "while-it-is-away" };
    const told = await lab.world.post("owner", path, order);
    away = null;
    expect(told).toMatchObject({ status: 503, code: "service_unavailable" });
    expect(told.headers.get("retry-after")).toBe("10");
    const again = await start(account, order);
    expect(again.url).toStartWith(lab.sandbox.url);
    expect((await billingOf(account)).top_ups).toHaveLength(1);
  });
});

describe("a saved card", () => {
  test("is charged once, however often the button is clicked", async () => {
    const account = await withCard();
    const path = accountPath(account, "top-ups/charge");
    const order = { amount_usd: "10", request: "a-double-click" };
    const clicks = Array.from({ length: 5 }, () =>
      lab.world.post<StartedTopUpReply>("billing", path, order),
    );
    const told = await Promise.all(clicks);
    expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const [id, ...others] = new Set(told.map(({ body }) => body.top_up.id));
    expect(others).toEqual([]);
    expect(await ended(account, id ?? "")).toMatchObject({ kind: "card", status: "succeeded" });
    expect(await lab.payments(account)).toBe(2);
    await credited(account, "30");
    const later = await lab.world.post<StartedTopUpReply>("billing", path, order);
    expect(later.body.top_up).toMatchObject({ id: id ?? "", status: "succeeded" });
    const other = { ...order, amount_usd: "11" };
    expect(await lab.world.post("billing", path, other)).toMatchObject({
      status: 409,
      code: "reference_reused",
    });
  });

  test("that is declined shows the reason, and charges nothing", async () => {
    const account = await withCard(DECLINED_LATER);
    const path = accountPath(account, "top-ups/charge");
    const order = { amount_usd: "10", request: "it-is-declined" };
    const { body } = await lab.world.post<StartedTopUpReply>("billing", path, order);
    expect(body.top_up.status).toBe("failed");
    expect(body.top_up.failure).not.toBeNull();
    expect(await lab.paid(account)).toBe(usd("20"));
  });

  test("is charged later by a worker if the provider is away", async () => {
    const account = await withCard();
    away = /payment_intents/;
    const path = accountPath(account, "top-ups/charge");
    const order = { amount_usd: "10", request: "it-is-away-now" };
    const told = await lab.world.post<StartedTopUpReply>("billing", path, order);
    away = null;
    const { top_up } = told.body;
    expect(top_up).toMatchObject({ status: "open", kind: "card" });
    expect(await lab.paid(account)).toBe(usd("20"));
    const open = await lab.cashier.topUps.find({ id: top_up.id });
    if (open === null) throw new Error("The top-up is gone");
    // Does the work of a worker when the attempt is due.
    await attempt(lab.cashier, open);
    const again = await lab.world.post<StartedTopUpReply>("billing", path, order);
    expect(again.body.top_up).toMatchObject({ id: top_up.id, status: "succeeded" });
    expect(await lab.payments(account)).toBe(2);
    await credited(account, "30");
  });

  test("of another account, or of none, gets the error of an unknown card", async () => {
    const [account, other] = [await lab.world.account({ free: "0" }), await withCard()];
    const [card] = (await billingOf(other)).cards;
    const order = { amount_usd: "10", request: "not-my-card" };
    const path = accountPath(account, "top-ups/charge");
    const foreign = await lab.world.post("owner", path, { ...order, card: card?.id });
    const missing = await lab.world.post("owner", path, { ...order, card: "card_0" });
    expect(foreign).toMatchObject({ status: 409, code: "no_card" });
    expect(missing.message).toBe(foreign.message?.replace(card?.id ?? "", "card_0"));
    const remove = await lab.world.post("owner", accountPath(account, `cards/${card?.id}/remove`));
    expect(remove).toMatchObject({ status: 404, code: "not_found" });
    expect((await billingOf(other)).cards).toHaveLength(1);
    expect(await lab.payments(other)).toBe(1);
  });
});

describe("the automatic top-up", () => {
  const TERMS = {
    amount_usd: "10",
    threshold_usd: "5",
    monthly_cap_usd: "50",
    consent_version: CONSENT_VERSION,
  };

  test("is set up with consent, paused by the removal of its card, and ended", async () => {
    const account = await withCard();
    const path = accountPath(account, "auto-top-up");
    const { body } = await lab.world.post<AutoTopUpReply>("billing", path, TERMS);
    const [card] = (await billingOf(account)).cards;
    const auto = {
      state: "enabled",
      amount_usd: "10",
      threshold_usd: "5",
      monthly_cap_usd: "50",
      card: card?.id,
      reason: null,
    };
    expect(body.auto).toEqual(auto as AutoTopUpReply["auto"]);
    expect((await billingOf(account)).auto).toEqual(body.auto);
    const removal = accountPath(account, `cards/${card?.id}/remove`);
    const left = await lab.world.post<LeftCardsReply>("billing", removal);
    expect(left.body).toMatchObject({
      cards: [],
      auto: { state: "paused", reason: "card_removed" },
    });
    const disabled = await lab.world.post<AutoTopUpReply>("billing", `${path}/disable`);
    expect(disabled.body.auto).toBeNull();
    expect((await billingOf(account)).auto).toBeNull();
  });

  test("a card that the provider has removed already is removed here too", async () => {
    const account = await withCard();
    const [card] = (await billingOf(account)).cards;
    const { sql } = lab.world.api.parts.stores.database;
    const [row] = await sql`SELECT ref FROM saved_cards WHERE id = ${card?.id ?? ""}`;
    // As after a removal that died half-way, or a second click.
    lab.sandbox.actions.store.change(String(row?.ref), { customer: null });
    const removal = accountPath(account, `cards/${card?.id}/remove`);
    const left = await lab.world.post<LeftCardsReply>("billing", removal);
    expect([left.status, left.body.cards]).toEqual([200, []]);
  });

  test("a card that the provider removed is removed here, even without the role", async () => {
    const account = await withCard();
    const [card] = (await billingOf(account)).cards;
    const { ofUs } = lab.world;
    meanwhile = (path) => {
      if (/detach/.test(path)) ofUs.delete(account.id);
    };
    const removal = accountPath(account, `cards/${card?.id}/remove`);
    const left = await lab.world.post<LeftCardsReply>("billing", removal);
    meanwhile = null;
    expect([left.status, left.body.cards, ofUs.has(account.id)]).toEqual([200, [], false]);
    ofUs.add(account.id);
    expect((await billingOf(account)).cards).toEqual([]);
  });

  test.each([
    [{ consent_version: "2020-01" }, 400, "consent_version must be '"],
    [{ threshold_usd: "-1" }, 400, "threshold_usd must not be negative"],
    [{ monthly_cap_usd: "all" }, 400, "monthly_cap_usd must be USD in a string"],
    [{ threshold_usd: "11" }, 409, "The threshold must be at most the amount"],
    [{ monthly_cap_usd: "1000" }, 409, "The monthly cap of this account must be from"],
    [{ amount_usd: "51" }, 409, "The amount of this account must be from $5 to $50"],
  ])("with %j is refused by name", async (wrong, status, message) => {
    const account = await withCard();
    const path = accountPath(account, "auto-top-up");
    const told = await lab.world.post("billing", path, { ...TERMS, ...wrong });
    expect(told.status).toBe(status);
    expect(told.message).toStartWith(message);
    expect((await billingOf(account)).auto).toBeNull();
  });
});

test("the account's activity has a line for each change, none for a repeat", async () => {
  const account = await withCard();
  const post = (path: string, body: object = {}) =>
    lab.world.post("billing", accountPath(account, path), body);
  const order = { amount_usd: "10", request: "one-line-of-it" };
  await post("top-ups/charge", order);
  await post("top-ups/charge", order);
  await post("top-ups/charge", { ...order, amount_usd: "1" });
  const terms = { amount_usd: "10", threshold_usd: "5", monthly_cap_usd: "50" };
  await post("auto-top-up", { ...terms, consent_version: CONSENT_VERSION });
  await post("auto-top-up/disable");
  await post("auto-top-up/disable");
  const [card] = (await billingOf(account)).cards;
  await post(`cards/${card?.id}/remove`);
  const rows = await lab.world.api.parts.stores.database.sql`
    SELECT l.actor, l.action, l.about FROM activity l JOIN accounts a ON a.number = l.account
    WHERE a.id = ${account.id} ORDER BY l.number`;
  expect(rows.map(({ actor, action, about }) => [actor, action, about])).toEqual([
    ["billing@example.com", "checkout_started", "$20"],
    ["billing@example.com", "card_charged", "$10"],
    ["billing@example.com", "auto_top_up_enabled", "$10 below $5, at most $50 a month"],
    ["billing@example.com", "auto_top_up_disabled", ""],
    ["billing@example.com", "card_removed", card?.id],
  ]);
});

describe("who may pay", () => {
  const ORDERS = [
    ["top-ups/checkout", { amount_usd: "20" }],
    ["top-ups/charge", { amount_usd: "20", request: "who-may-pay" }],
    ["cards/card_0/remove", {}],
    ["auto-top-up", {}],
    ["auto-top-up/disable", {}],
  ] as const;

  test("a viewer reads everything and pays nothing; a stranger finds no account", async () => {
    const account = await withCard();
    for (const [path, body] of ORDERS) {
      const viewer = await lab.world.post("viewer", accountPath(account, path), body);
      expect(viewer.code).toBe("role_required");
      const stranger = await lab.world.post("stranger", accountPath(account, path), body);
      expect(stranger.code).toBe("account_not_found");
    }
    expect(await lab.payments(account)).toBe(1);
  });

  test("a top-up of another account gets the error of an unknown top-up", async () => {
    const [account, other] = [await lab.world.account(), await withCard()];
    const [topUp] = (await billingOf(other)).top_ups;
    const foreign = await lab.world.get("owner", accountPath(account, `top-ups/${topUp?.id}`));
    const missing = await lab.world.get("owner", accountPath(account, "top-ups/topup_0"));
    expect(foreign).toMatchObject({ status: 404, code: "not_found" });
    expect(missing.message).toBe(foreign.message?.replace(topUp?.id ?? "", "topup_0"));
  });

  test("without a payment provider the page says so, and no payment is possible", async () => {
    await using plain = await ConsoleWorld.start();
    const account = await plain.account({ paid: "7" });
    const { body } = await plain.get<BillingReply>("owner", accountPath(account, "billing"));
    expect(body).toMatchObject({ provider: null, cards: [], auto: null });
    expect(body.payments).toMatchObject([{ provider: "manual", amount_usd: "7" }]);
    const told = await plain.post("owner", accountPath(account, "top-ups/checkout"), {
      amount_usd: "20",
    });
    expect(told).toMatchObject({ status: 409, code: "no_payment_provider" });
    expect(told.message).toStartWith("Nothing can be paid here");
  });
});
