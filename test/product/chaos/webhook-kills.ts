// Kills worker processes at each step of the deliveries of webhooks. Every event must arrive, with
// its id and a valid signature at each attempt, and its retries go on. A receiver that is gone, or
// that fails for a day, is disabled, with one mail to its holder.

import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { addReceiver, replayFailed, setReceiverState } from "../../../src/accounts/webhooks.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/core/durations.ts";
import { fromUuid } from "../../../src/core/ids.ts";
import { webhookDelayMs } from "../../../src/core/webhooks/webhook-rules.ts";
import { WebhookSeals } from "../../../src/core/webhooks/webhook-seals.ts";
import { eventually } from "../../support/eventually.ts";
import { type Product, SECRETS, startProduct } from "../../support/product/product.ts";
import { must } from "../../support/product/product-checks.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { startReceiver, type TestReceiver } from "../../support/stores/webhook-lab.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const PRELOAD = join(import.meta.dir, "../../support/product/webhook-crash-preload.ts");
const EVENTS_A_STEP = 3;
const TYPE = "payment.succeeded";
/** Attempts of a delivery that ends now, after a day of failures. */
const OLD_ATTEMPTS = 9;

interface Step {
  /** The point of the preload; null: the worker dies while the receiver has its request. */
  readonly at: "after-claim" | `${"before" | "after"}-${"delivered" | "failed"}` | null;
  readonly answer: 204 | 410 | 500;
  /** True for deliveries whose day is over. */
  readonly isOld?: true;
}

const STEPS: readonly Step[] = [
  { at: "after-claim", answer: 204 },
  { at: null, answer: 204 },
  { at: "before-delivered", answer: 204 },
  { at: "after-delivered", answer: 204 },
  { at: "before-failed", answer: 500 },
  { at: "after-failed", answer: 500 },
  { at: "before-failed", answer: 410 },
  { at: "after-failed", answer: 410 },
  { at: "before-failed", answer: 500, isOld: true },
  { at: "after-failed", answer: 500, isOld: true },
];

/** A receiver of an account of its own. */
interface Hook {
  readonly account: TestAccount;
  readonly id: string;
  readonly secret: string;
  readonly receiver: TestReceiver;
}

/** Each round kills a worker at each step. */
export async function killWebhookWorkers({ times, say }: ChaosOptions): Promise<void> {
  const env = { WEBHOOK_ALLOW_PRIVATE: "true" };
  await using product = await startProduct({ apis: 0, env });
  await product.workers[0]?.kill9();
  let [requests, repeats, disabled] = [0, 0, 0];
  for (let round = 0; round < times; round += 1) {
    for (const step of STEPS) {
      const hook = await openHook(product);
      await dieAt(product, hook, step);
      checkRetries(await deliveriesOf(product, hook), step);
      await goOn(product, hook, step);
      const arrived = await checkArrivals(product, hook);
      requests += hook.receiver.got.length;
      repeats += hook.receiver.got.length - arrived;
      if (endsReceiver(step)) disabled += 1;
    }
  }
  const kills = times * STEPS.length;
  say(`${kills} webhook worker kills at ${STEPS.length} steps`);
  say(
    `  ${kills * EVENTS_A_STEP} events arrived by ${requests} requests, ${repeats} of them ` +
      `repeats with the same id; ${disabled} receivers disabled, each with one mail`,
  );
}

const endsReceiver = ({ answer, isOld }: Step) => answer === 410 || isOld === true;

function depsOf({ operator: { administration } }: Product) {
  return {
    administration,
    webhooks: { seals: new WebhookSeals([SECRETS.KEY_PEPPER]), allowPrivate: true },
  };
}

const also = async () => {};

async function openHook(product: Product): Promise<Hook> {
  const account = await product.account({ email: `${crypto.randomUUID()}@chaos.test` });
  const receiver = startReceiver();
  const terms = { url: receiver.url, description: "", events: [TYPE] };
  const order = { account: account.row, also };
  const { receiver: added, secret } = await addReceiver(depsOf(product), order, terms);
  for (let event = 0; event < EVENTS_A_STEP; event += 1) await product.pay(account.id, "5");
  return { account, id: added.id, secret, receiver };
}

/** Has a worker send the events, and waits until the worker is dead. */
async function dieAt(product: Product, { receiver, account }: Hook, step: Step): Promise<void> {
  const { sql } = product.operator.database;
  // The events wait until the worker, which is armed, serves.
  const ageMs = step.isOld === true ? DAY_MS : 0;
  const attempts = step.isOld === true ? OLD_ATTEMPTS : 0;
  await sql`
    UPDATE webhook_deliveries SET next_attempt_at = 'infinity', attempts = ${attempts},
      started_at = started_at - ${ageMs} * interval '1 ms'
    WHERE status = 'waiting'`;
  const [worker] = product.workers;
  if (worker === undefined) throw new Error("The product has no worker");
  receiver.answer = () => new Response(null, { status: step.answer });
  if (step.at === null) {
    receiver.answer = async () => {
      if (worker.isRunning) await worker.kill9();
      return new Response(null, { status: step.answer });
    };
  }
  await worker.start(step.at === null ? {} : { preload: PRELOAD, env: { CRASH_AT: step.at } });
  await sql`
    UPDATE webhook_deliveries d SET next_attempt_at = now() FROM webhook_receivers r
    WHERE r.number = d.receiver AND r.account = ${account.row.number}`;
  await worker.exited;
}

interface Delivery {
  readonly event: string;
  readonly status: string;
  readonly attempts: number;
  readonly error: string | null;
  /** From the last attempt to the next one. */
  readonly wait_ms: number | null;
  /** How long the claim of the dead worker lasts. */
  readonly claimed_ms: number | null;
}

async function deliveriesOf({ operator }: Product, { account }: Hook): Promise<Delivery[]> {
  return await operator.database.sql<Delivery[]>`
    SELECT d.event::text, d.status, d.attempts, d.error,
      extract(epoch FROM d.next_attempt_at - d.attempted_at)::float8 * 1000 AS wait_ms,
      extract(epoch FROM d.claimed_until - now())::float8 * 1000 AS claimed_ms
    FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event
    WHERE e.account = ${account.row.number}`;
}

/** A delivery whose worker died waits for the end of a claim, or for its next attempt. */
function checkRetries(rows: readonly Delivery[], step: Step): void {
  const name = JSON.stringify(step);
  must(rows.length === EVENTS_A_STEP, () => `${name}: ${rows.length} deliveries`);
  const waiting = rows.filter(({ status }) => status === "waiting");
  for (const { claimed_ms, error, wait_ms } of waiting) {
    if (claimed_ms !== null) {
      must(claimed_ms <= MINUTE_MS, () => `${name}: claimed for ${claimed_ms} ms more`);
    } else if (error !== null) {
      const [least, most] = [webhookDelayMs(1, 0), webhookDelayMs(1, 1)];
      const isRight = wait_ms !== null && wait_ms > least - 1_000 && wait_ms < most + 1_000;
      must(isRight, () => `${name}: the next attempt is after ${wait_ms} ms`);
    }
  }
  const put = rows.filter(({ status, error }) => status !== "waiting" || error !== null);
  const isRecorded = step.at?.startsWith("after-") === true && step.at !== "after-claim";
  must(!isRecorded || put.length > 0, () => `${name}: the worker died before its record`);
}

/** Time passes, and another worker goes on. A receiver that was disabled is enabled again. */
async function goOn(product: Product, hook: Hook, step: Step): Promise<void> {
  const { sql } = product.operator.database;
  const { account, receiver } = hook;
  await sql`
    UPDATE webhook_deliveries d SET next_attempt_at = now(), claimed_until = NULL
    FROM webhook_receivers r
    WHERE r.number = d.receiver AND r.account = ${account.row.number} AND d.status = 'waiting'`;
  const status = endsReceiver(step) ? step.answer : 204;
  receiver.answer = () => new Response(null, { status });
  const [worker] = product.workers;
  await worker?.start();
  if (endsReceiver(step)) {
    const why = step.isOld === true ? "failing" : "gone";
    await eventually(`a receiver is disabled after ${JSON.stringify(step)}`, async () => {
      const [row] = await sql`SELECT disabled FROM webhook_receivers WHERE id = ${hook.id}`;
      return row?.disabled === why;
    });
    const mails = await sql`SELECT FROM outbox WHERE account = ${account.row.number}`;
    must(mails.length === 1, () => `${JSON.stringify(step)}: ${mails.length} mails`);
    receiver.answer = () => new Response(null, { status: 204 });
    await sendAgain(product, hook);
  }
  await eventually(`all events are taken after ${JSON.stringify(step)}`, async () => {
    const rows = await deliveriesOf(product, hook);
    return rows.every((one) => one.status === "delivered");
  });
  await worker?.kill9();
}

/** The holder enables the receiver, and has the events sent again that it did not take. */
async function sendAgain(product: Product, { account, id }: Hook): Promise<void> {
  const { sql } = product.operator.database;
  const target = { account: account.row, id, also };
  await setReceiverState(depsOf(product), { ...target, disabled: null });
  await sql`UPDATE webhook_deliveries SET started_at = started_at - ${MINUTE_MS} * interval '1 ms'`;
  await replayFailed(depsOf(product), target, new Date(Date.now() - DAY_MS));
}

/** Returns the number of events; each has arrived, and all its requests have its id and content. */
async function checkArrivals(product: Product, hook: Hook): Promise<number> {
  const bodies = new Map<string, Set<string>>();
  for (const { headers, body, json } of hook.receiver.got) {
    new Webhook(hook.secret).verify(body, { ...headers });
    must(headers["webhook-id"] === json.id, () => `${json.id} came as ${headers["webhook-id"]}`);
    bodies.set(json.id, (bodies.get(json.id) ?? new Set()).add(body));
  }
  const rows = await deliveriesOf(product, hook);
  for (const { event, attempts } of rows) {
    const id = fromUuid("event", event);
    must(bodies.get(id)?.size === 1, () => `${id} came as ${bodies.get(id)?.size} bodies`);
    must(attempts > 0, () => `${id} was taken without an attempt`);
  }
  must(bodies.size === rows.length, () => `${bodies.size} ids of ${rows.length} events`);
  return rows.length;
}
