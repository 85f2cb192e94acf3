// Tests that many calls at once over two API processes that take a balance below its threshold,
// while the workers that charge the card are killed at named points, cause one charge for each
// crossing. STORM_ROUNDS is the number of rounds for each point, STORM_CALLS the number of calls in
// a round.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ApiAnswer, ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { enableAuto } from "../../../src/payments/auto-settings.ts";
import { openPayments } from "../../../src/payments/open-payments.ts";
import type { PaymentDeps } from "../../../src/payments/read-top-up.ts";
import { startCheckout } from "../../../src/payments/top-ups.ts";
import { loadPaymentConfig } from "../../../src/settings/config.ts";
import type { AccountRow } from "../../../src/store/accounts/accounts.ts";
import { eventually } from "../../support/eventually.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { type PaidProduct, startPaidProduct } from "../../support/product/paid-product.ts";
import type { Product } from "../../support/product/product.ts";
import { random } from "../../support/random.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { usd } from "../../support/stores/world.ts";

const ROUNDS = Number(process.env.STORM_ROUNDS ?? 1);
const CALLS = Number(process.env.STORM_CALLS ?? 500);
const OK_CARD = "4242424242424242";
const WITHIN_MS = 120_000;

setDefaultTimeout(300_000 + ROUNDS * 120_000);

const isCharge = ({ method, path }: ApiRequest) =>
  method === "POST" && path === "/v1/payment_intents";
const isReading = ({ method, path }: ApiRequest) =>
  method === "GET" && /^\/v1\/payment_intents\/pi_/.test(path);
const isLastReading = ({ path }: ApiRequest) => path === "/v1/radar/early_fraud_warnings";

/**
 * The points at which workers die, as the provider sees them, and whether it has done the work by
 * then.
 */
const POINTS = {
  "the charge is asked for": { at: isCharge, isDone: false },
  "the card is charged, and nobody told": { at: isCharge, isDone: true },
  "the payment is read": { at: isReading, isDone: false },
  "the payment was read, and is being booked": { at: isLastReading, isDone: true },
} as const;
type Point = keyof typeof POINTS;

/** Kills this when a request comes; null: nothing is killed. */
const armed: { point: Point | null; kill: () => Promise<void> } = {
  point: null,
  kill: () => Promise.resolve(),
};

async function intercept(request: ApiRequest, answer: () => ApiAnswer): Promise<Response | null> {
  const { point } = armed;
  if (point === null || !POINTS[point].at(request)) return null;
  armed.point = null;
  // An event that is being booked gets its answer, and the worker dies right after it.
  if (POINTS[point].at === isLastReading) {
    queueMicrotask(() => void armed.kill());
    return null;
  }
  if (POINTS[point].isDone) answer();
  await armed.kill();
  return new Response("nobody is there to read it", { status: 502 });
}

let product: Product;
let paid: PaidProduct;
let payments: PaymentDeps;

beforeAll(async () => {
  paid = await startPaidProduct({ workers: 2, apis: 2, record: false, intercept });
  product = paid.product;
  const config = loadPaymentConfig(paid.env);
  if (config === null) throw new Error("Payments are not configured");
  const { database, actors } = product.operator;
  const parts = {
    database,
    actors,
    now: Date.now,
    random,
    log: silent,
    brand: () => DEFAULT_BRAND,
    origin: null,
  };
  payments = openPayments({ ...parts, config });
});
afterAll(async () => {
  await paid?.[Symbol.asyncDispose]();
});

/** An account with $20 and an automatic top-up of $30 below $25: its next call crosses that. */
async function ready(): Promise<{ readonly account: TestAccount; readonly row: AccountRow }> {
  const account = await product.account({ contract: "enterprise" });
  const row = await product.operator.administration.accounts.find(account.id);
  if (row === null) throw new Error("The account is gone");
  const page = await startCheckout(payments, row, { amount: usd("20"), savesCard: true });
  await fetch(page.url ?? "", { method: "POST", body: new URLSearchParams({ card: OK_CARD }) });
  await eventually(
    "the page is credited",
    async () => (await payments.topUps.find({ id: page.id }))?.status === "succeeded",
    WITHIN_MS,
  );
  const terms = { amount: usd("30"), threshold: usd("25"), monthlyCap: usd("90"), cardId: null };
  await enableAuto(payments, row, terms);
  return { account, row };
}

async function storm({ key }: TestAccount): Promise<readonly number[]> {
  const body = JSON.stringify({ model: "ok", messages: [{ role: "user", content: "Hello" }] });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const calls = Array.from({ length: CALLS }, async (_, index) => {
    const url = `${product.api(index % 2).url}/v1/chat/completions`;
    const response = await fetch(url, { method: "POST", headers, body });
    await response.arrayBuffer();
    return response.status;
  });
  return await Promise.all(calls);
}

/** Kills both workers, at once. */
async function killWorkers(): Promise<void> {
  await Promise.all(product.workers.map((worker) => worker.kill9()));
}

async function round(point: Point): Promise<void> {
  const { account, row } = await ready();
  const died = Promise.withResolvers<void>();
  armed.kill = async () => {
    await killWorkers();
    died.resolve();
  };
  armed.point = point;
  const statuses = await storm(account);
  expect(new Set(statuses)).toEqual(new Set([200]));
  await died.promise;
  await Promise.all(product.workers.map((worker) => worker.start()));
  await eventually("the automatic top-up is credited", () => isCredited(row), WITHIN_MS);
  const made = await payments.topUps.list(row.number);
  expect(made.map(({ kind, status }) => [kind, status])).toEqual([
    ["auto", "succeeded"],
    ["checkout", "succeeded"],
  ]);
  const ofAccount = paid.sandbox.actions.store
    .list("payment_intent")
    .filter(({ metadata }) => JSON.stringify(metadata).includes(account.id));
  expect(ofAccount.map(({ amount, status }) => [amount, status])).toEqual([
    [3_000, "succeeded"],
    [2_000, "succeeded"],
  ]);
  const booked = await product.operator.administration.payments.list(row);
  expect(booked.map(({ amount }) => amount)).toEqual([usd("20"), usd("30")]);
}

/** Skips the minute after which an attempt is repeated. */
async function isCredited({ number }: AccountRow): Promise<boolean> {
  await product.operator.database.sql`
    UPDATE top_ups SET next_attempt_at = now() - interval '1 second'
    WHERE account = ${number} AND kind = 'auto' AND status = 'open' AND next_attempt_at > now()`;
  const made = await payments.topUps.list(number);
  return made.some(({ kind, status }) => kind === "auto" && status === "succeeded");
}

describe(`${CALLS} calls at once over two processes, ${ROUNDS} times`, () => {
  for (const point of Object.keys(POINTS) as Point[]) {
    test(`charge once when workers are killed while ${point}`, async () => {
      for (let played = 0; played < ROUNDS; played += 1) await round(point);
      // The workers store a payment before they apply it.
      await eventually(
        "the audit is clean",
        async () => (await product.audit()).difference === null,
      );
    });
  }
});
