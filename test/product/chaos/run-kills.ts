// Kills an API process while the calls of one run are open at two processes, on one Redis and on a
// Redis Cluster: balance, budget of the run and audit must agree.

import { dollars, toDecimal, usd } from "../../../src/core/money/money.ts";
import { type Api, type Product, startProduct } from "../../support/product/product.ts";
import {
  must,
  type Proof,
  proveBooks,
  sweepDead,
  untilCallsEnd,
} from "../../support/product/product-checks.ts";
import { MODELS, type Told } from "../../support/product/product-load.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { startCluster } from "../../support/stores/services.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const CALLS = 200;
/** More than some calls cost, and less than all of them. */
const MAX = usd("10");
const PAID = "1000";
/** The kill comes at one of these answers, while streams are open. */
const KILL_AT = [1, 5] as const;

/** Each round kills a process once on one server, and once on a Cluster. */
export async function killRunCalls(options: ChaosOptions): Promise<void> {
  await killOn("one Redis", options);
  await using cluster = await startCluster();
  await killOn("a Redis Cluster", options, cluster.urls.join(","));
}

async function killOn(
  name: string,
  { times, random, say }: ChaosOptions,
  redisUrl?: string,
): Promise<void> {
  const stores = redisUrl === undefined ? {} : { redisUrl };
  await using product = await startProduct({ apis: 2, models: MODELS, record: false, ...stores });
  const [steady, victim] = [product.api(0), product.api(1)];
  const told: Told[] = [];
  const accounts: TestAccount[] = [];
  for (let round = 0; round < times; round += 1) {
    if (!victim.isRunning) await victim.start();
    const account = await product.account({ paid: PAID, free: "0", contract: "enterprise" });
    accounts.push(account);
    const killAt = random.between(...KILL_AT);
    let answers = 0;
    let killing: Promise<void> | null = null;
    const calls = Array.from({ length: CALLS }, async (_, index) => {
      const one = await callOnce(index % 2 === 0 ? steady : victim, account, index % 4 < 2);
      told.push(one);
      if (one.status !== 200) return;
      answers += 1;
      if (answers === killAt) killing = victim.kill9();
    });
    await Promise.all(calls);
    await killing;
    must(killing !== null, () => `Not even ${killAt} calls of the run were answered`);
  }
  await untilCallsEnd(product);
  const swept = await sweepDead(product);
  const proof = await proveBooks(product, told);
  let spent = 0n;
  for (const account of accounts) spent += await proveRun(product, account, proof);
  const unanswered = told.filter(({ requestId }) => requestId === null).length;
  say(
    `${times} kills amid ${CALLS} calls of a run at two processes, on ${name}: ${proof.served} ` +
      `answered, ${unanswered} streams or broken off, ${swept} holds swept; each run spent what ` +
      `was charged: ${dollars(spent)} of ${dollars(MAX)} a run`,
  );
}

/** The run spent as much as its account was charged, at most its amount, and holds nothing. */
async function proveRun(
  product: Product,
  account: TestAccount,
  { charges }: Proof,
): Promise<bigint> {
  const run = await readRun(product.api(0), account);
  const { sql } = product.operator.database;
  const rows = await sql<{ request: string }[]>`
    SELECT DISTINCT request::text FROM ledger_entries
    WHERE account = ${account.row.number} AND request IS NOT NULL`;
  const charged = rows.reduce((sum, { request }) => sum + (charges.get(request)?.amount ?? 0n), 0n);
  must(run.spent === charged, () => `${run.spent} spent, and ${charged} charged`);
  must(charged > 0n && charged <= MAX, () => `${charged} were charged of ${MAX}`);
  must(run.held === 0n, () => `The run still holds ${run.held}`);
  const [stored] = await sql<{ spent: string }[]>`
    SELECT sum(spent)::text AS spent FROM budget_spend WHERE account = ${account.row.number}`;
  must(BigInt(stored?.spent ?? 0) === charged, () => `Postgres has ${stored?.spent} for the run`);
  const { paid } = (await account.actor.state()).wallet;
  must(paid === usd(PAID) - charged, () => `${paid} left of $${PAID} after ${charged}`);
  return charged;
}

async function readRun({ url }: Api, { key }: TestAccount) {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await fetch(`${url}/v1/runs/killed`, { headers });
  must(reply.ok, () => `GET /v1/runs/killed: ${reply.status}`);
  const { spent_usd, held_usd } = (await reply.json()) as { spent_usd: number; held_usd: number };
  const nano = (amount: number) => BigInt(Math.round(amount * 1e9));
  return { spent: nano(spent_usd), held: nano(held_usd) };
}

/** One call of the run. Of a stream, or without a whole answer, the caller knows no charge. */
async function callOnce(
  { url }: Api,
  { id: account, key }: TestAccount,
  stream: boolean,
): Promise<Told> {
  const unknown = { account, requestId: null, status: null, cost: null, costMax: 10n ** 12n };
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "x-svc-run": `killed; max-usd=${toDecimal(MAX)}`,
      },
      body: JSON.stringify({
        model: stream ? "stream" : "ok",
        stream,
        messages: [{ role: "user", content: "Hello" }],
        max_tokens: 50,
      }),
      keepalive: false,
    });
    const { status, headers } = response;
    const text = await response.text();
    const requestId = headers.get("x-request-id");
    if (stream && status === 200) return text.includes("[DONE]") ? { ...unknown, status } : unknown;
    const cost = status === 200 ? usd(headers.get("x-svc-cost-usd") ?? "") : null;
    return { account, requestId, status, cost, costMax: cost ?? 0n };
  } catch {
    return unknown;
  }
}
