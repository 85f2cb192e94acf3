// Kills API processes at named points of calls with an Idempotency-Key, and repeats each call at
// another process: each key must be charged once.

import { join } from "node:path";
import { toUuid } from "../../../src/core/ids.ts";
import { DOORS } from "../../support/api/doors.ts";
import { CRASH_POINTS } from "../../support/product/crash-points.ts";
import { type Api, startProduct } from "../../support/product/product.ts";
import {
  must,
  proveBooks,
  sweepDead,
  untilCallsEnd,
} from "../../support/product/product-checks.ts";
import { MODELS, type Told } from "../../support/product/product-load.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const PRELOAD = join(import.meta.dir, "../../support/product/crash-preload.ts");

/** Calls with one key at the same time, over two processes. */
const RACERS = 100;

const VECTORS = [
  { id: "vectors", serves: "embedding", input: "5000", output: "0" },
  { id: "ranks", serves: "rerank", input: "5000", output: "0" },
] as const;

const { chat } = DOORS;
const HELLO = { prompt: "Hello", maxTokens: 50 };
/** A request of each kind of reply: whole, streamed, and of the doors that have no text. */
const ASKED = {
  whole: [chat.path, chat.body({ ...HELLO, model: "ok", stream: false })],
  streamed: [chat.path, chat.body({ ...HELLO, model: "stream", stream: true })],
  embeddings: ["/v1/embeddings", { model: "vectors", input: ["Hello", "there"] }],
  ranks: ["/v1/rerank", { model: "ranks", query: "Hello", documents: ["Hello", "there"] }],
} as const satisfies Record<string, readonly [path: string, body: object]>;
type Asked = keyof typeof ASKED;

interface KeyedCall {
  readonly account: TestAccount;
  readonly key: string;
  readonly asked: Asked;
}

/** The status, error code and message of an answer; null for a call without an answer. */
type Answer = {
  readonly status: number;
  readonly code: string | null;
  readonly message: string;
} | null;

/** The request whose receipt a refusal of a repeat names. */
const RECEIPT = /\/v1\/receipts\/(req_[A-Za-z0-9]+)/;

/** Each round kills a process at each point of a call of each kind. */
export async function killKeyedCalls({ times, say }: ChaosOptions): Promise<void> {
  const models = [...MODELS, ...VECTORS];
  await using product = await startProduct({ apis: 2, models, record: false });
  const [steady, victim] = [product.api(0), product.api(1)];
  const account = await product.account({ paid: "100000", contract: "enterprise" });
  const calls: KeyedCall[] = [];
  const sent: Answer[] = [];
  const ask = async (api: Api, call: KeyedCall) => {
    const answer = await send(api, call);
    sent.push(answer);
    return answer;
  };
  const kinds = Object.keys(ASKED) as Asked[];
  const raced = { account, key: "raced", asked: "whole" } as const;
  const race = Array.from({ length: RACERS }, (_, n) => ask(n % 2 === 0 ? steady : victim, raced));
  for (const answer of await Promise.all(race)) {
    must(answer?.status === 200 || answer?.status === 409, () => `raced: ${answer?.status}`);
  }
  calls.push(raced);
  for (let round = 0; round < times; round += 1) {
    for (const point of CRASH_POINTS) {
      for (const asked of kinds) {
        const call = { account, key: `${point} ${asked} ${round}`, asked };
        if (victim.isRunning) await victim.kill9();
        await victim.start({ preload: PRELOAD, env: { CRASH_AT: `${point}:1` } });
        await ask(victim, call);
        await victim.exited;
        // The caller repeats its call at once: the hold of the dead process may still be charged.
        const repeat = await ask(steady, call);
        must(repeat !== null && repeat.status !== 500, () => `${call.key}: ${repeat?.status}`);
        calls.push(call);
      }
    }
  }
  const early = sent
    .slice(RACERS)
    .filter((answer) => answer?.code === "idempotency_in_progress").length;
  await untilCallsEnd(product);
  await sweepDead(product);
  for (const call of calls) {
    const parallel = Array.from({ length: 3 }, () => ask(steady, call));
    for (const answer of await Promise.all(parallel)) {
      must(answer?.status === 200 || answer?.status === 409, () => {
        return `${call.key}: ${answer?.status} ${answer?.code}`;
      });
    }
  }
  await untilCallsEnd(product);
  const named: string[] = [];
  for (const call of calls) {
    const repeat = await ask(steady, call);
    if (repeat?.status === 200) continue;
    const receipt = RECEIPT.exec(repeat?.message ?? "")?.[1];
    must(receipt !== undefined, () => `${call.key}: ${repeat?.code} ${repeat?.message}`);
    if (receipt !== undefined) named.push(receipt);
  }
  const told = sent.map((): Told => {
    return { requestId: null, account: account.id, status: null, cost: null, costMax: 10n ** 15n };
  });
  const { charges } = await proveBooks(product, told);
  for (const request of named) {
    must(charges.get(toUuid(request))?.times === 1, () => `The receipt ${request} has no charge`);
  }
  must(named.length > 0, () => "No repeat was told of a receipt");
  const { sql } = product.operator.database;
  const rows = await sql<{ marker: string; charges: number }[]>`
    SELECT marker, count(*)::int AS charges FROM request_log
    WHERE marker IS NOT NULL AND cost > 0 GROUP BY marker`;
  for (const { marker, charges } of rows) {
    must(charges === 1, () => `${charges} calls of the key ${marker} were charged`);
  }
  must(rows.length === calls.length, () => `${rows.length} of ${calls.length} keys were charged`);
  must(early > 0, () => "No repeat came before the sweep");
  say(
    `${calls.length} keys, ${sent.length} requests on two processes, one killed: each key was ` +
      `charged once; ${early} repeats came before the sweep, and ${named.length} were told the ` +
      "receipt of a charge whose answer is gone",
  );
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

async function send({ url }: Api, { account, key, asked }: KeyedCall): Promise<Answer> {
  const [path, body] = ASKED[asked];
  try {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${account.key}`, "idempotency-key": key },
      body: JSON.stringify(body),
      keepalive: false,
    });
    const text = await response.text();
    const { error } = response.ok ? { error: null } : (JSON.parse(text) as Refusal);
    return { status: response.status, code: error?.code ?? null, message: error?.message ?? "" };
  } catch {
    return null;
  }
}
