// Sends requests made from the endpoints' own schemas, most of them with faults, to the running
// product: every answer is checked, and then the books.

import { usd } from "../../../src/core/money/money.ts";
import { mcp } from "../../../src/mcp/mcp-endpoint.ts";
import type { Product } from "../../support/product/product.ts";
import { must, proveBooks } from "../../support/product/product-checks.ts";
import type { Told } from "../../support/product/product-load.ts";
import type { ChaosOptions } from "../chaos/gateway-kills.ts";
import { checkAnswer, type Outcome } from "./check-answer.ts";
import { type FuzzedProduct, mayFail, startFuzzedProduct } from "./fuzz-product.ts";
import { FuzzReport } from "./fuzz-report.ts";
import { commandOf, type FuzzRequest, wireOf } from "./fuzz-request.ts";
import { type RawAnswer, sendRaw } from "./raw-client.ts";
import { FUZZED, labelOf, RequestMaker } from "./request-maker.ts";

const AT_ONCE = 32;
/**
 * Longer than the 10 seconds that a body may take. A request that hangs fails; a busy machine is no
 * reason to.
 */
const ANSWER_MS_MAX = 180_000;
/** More than any of these calls can hold. */
const COST_MAX = usd("1000");
const SUCCESS_SHARE_MIN = 0.15;
/** After this many requests an endpoint must have succeeded once. */
const TRIES_MAX = 500;
/** Of 80 keys only one may read each receipt, so more requests are needed for a success. */
const RARE = { label: "GET /api/v1/receipts/{id}", triesMax: 5_000 } as const;
const FAILURES_SHOWN = 5;
const MCP = labelOf(mcp);
/** The level of pino. */
const ERROR = 50;

/** Sends this many requests, checks every answer, and proves the books. */
export async function fuzz({ times, random, say }: ChaosOptions): Promise<void> {
  say(`${times} requests, seed ${random.seed}`);
  await using fuzzed = await startFuzzedProduct();
  const run = new FuzzRun(fuzzed, random.seed);
  const startMs = performance.now();
  await run.send(times);
  const seconds = (performance.now() - startMs) / 1_000;
  for (const line of run.report.table(FUZZED.map(labelOf))) say(`  ${line}`);
  run.report.throwFailures();
  checkLogs(fuzzed.product);
  const proof = await proveBooks(fuzzed.product, run.told).catch((error) => run.explain(error));
  await checkLoggedCalls(fuzzed.product);
  const share = run.checkShares(times);
  say(
    `  ${(times / seconds).toFixed(0)} requests a second, ${(share * 100).toFixed(0)} % served; ` +
      `${proof.charges.size} charged, each as its caller was told; audit clean`,
  );
}

/**
 * Checks calls by the request log, which the audit compares with the ledger, even those of callers
 * who left.
 */
async function checkLoggedCalls({ operator }: Product): Promise<void> {
  const [row] = await operator.database.sql`
    SELECT request::text, status, cost, held FROM request_log
    WHERE cost > coalesce(held, 0) OR (cost > 0 AND status BETWEEN 400 AND 498) LIMIT 1`;
  must(row === undefined, () => `A call was charged wrongly: ${JSON.stringify(row)}`);
}

/** Requires that programs logged no error except those of the fake upstream. */
function checkLogs({ programs }: Product): void {
  const logged = programs.flatMap(({ log }) => log);
  const bad = logged.find(({ level, code }) => level >= ERROR && code !== "upstream_unreachable");
  must(bad === undefined, () => `A program logged ${JSON.stringify(bad)}`);
}

class FuzzRun {
  readonly told: Told[] = [];
  readonly #maker: RequestMaker;
  /** The numbers of requests, by the ids that their answers gave them. */
  readonly #numbers = new Map<string, number>();
  readonly report = new FuzzReport(FAILURES_SHOWN);

  constructor(
    readonly fuzzed: FuzzedProduct,
    seed: number,
  ) {
    this.#maker = new RequestMaker({ ...fuzzed.maker, seed });
  }

  async send(times: number): Promise<void> {
    let next = 0;
    const lane = async () => {
      while (next < times) {
        const request = this.#maker.make(next);
        next += 1;
        await this.#sendOne(request);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  }

  async #sendOne(request: FuzzRequest): Promise<void> {
    const { endpoint, method, hangUpMs, framing } = request;
    let answer: RawAnswer | null = null;
    try {
      answer = await sendRaw(wireOf(request, this.fuzzed.secrets), {
        port: this.fuzzed.product.api(0).port,
        method,
        ends: framing.kind === "short",
        hangUpMs,
        timeoutMs: ANSWER_MS_MAX,
      });
      if (hangUpMs !== null && !answer?.isWhole) return this.#noteHangUp(endpoint, answer);
      if (answer === null && !request.isHttp) return this.report.count(endpoint, "closed");
      if (answer === null) throw new Error("The connection was closed without an answer");
      const isSure = !mayFail(endpoint, request.body);
      if (!answer.isWhole && isSure) throw new Error("The answer broke off");
      this.#note(request, checkAnswer(request, answer, { mayFail: !isSure }));
    } catch (error) {
      this.report.fail(request, answer, error);
    }
  }

  #note({ endpoint, number }: FuzzRequest, { status, requestId, cost }: Outcome): void {
    this.report.count(endpoint, String(status));
    if (requestId === null) return;
    this.#numbers.set(requestId, number);
    // A message that waits is charged when it is sent.
    const known = { requestId, status: status === 202 ? 200 : status, cost };
    this.told.push({ ...known, account: "", costMax: cost ?? COST_MAX });
  }

  #noteHangUp(endpoint: string, answer: RawAnswer | null): void {
    this.report.count(endpoint, "left");
    // A tool's call is charged under the id of its own request to the API.
    const isMcp = endpoint === MCP;
    const requestId = isMcp ? null : (answer?.headers.get("x-request-id") ?? null);
    const status = answer?.status ?? null;
    this.told.push({ requestId, account: "", status, cost: null, costMax: COST_MAX });
  }

  /** Throws the error again, with the request whose id it names. */
  explain(error: Error): never {
    const [id = ""] = /req_\w+/.exec(error.message) ?? [];
    const number = this.#numbers.get(id);
    if (number === undefined) throw error;
    const command = commandOf(this.#maker.make(number));
    throw new Error(`Request ${number}: ${error.message}\n  ${command}`, { cause: error });
  }

  /** The share of successes, which must not be small: refusals alone would prove little. */
  checkShares(times: number): number {
    let all = 0;
    for (const [label, counts] of this.report.counts) {
      const served = (counts.get("200") ?? 0) + (counts.get("202") ?? 0);
      const sent = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const triesMax = label === RARE.label ? RARE.triesMax : TRIES_MAX;
      must(served > 0 || sent < triesMax, () => `None of ${sent} requests ${label} was served`);
      all += served;
    }
    must(all >= times * SUCCESS_SHARE_MIN, () => `Only ${all} of ${times} requests were served`);
    return all / times;
  }
}
