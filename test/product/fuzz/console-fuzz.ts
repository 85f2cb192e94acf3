// Sends requests to the console made from its own schemas, most of them with faults, by people of
// every role: every answer is checked, then the rows of the other organisation, and then the books.

import { must } from "../../support/product/product-checks.ts";
import type { ChaosOptions } from "../chaos/gateway-kills.ts";
import { checkConsole } from "./check-console.ts";
import { type ConsoleLab, openConsoleLab } from "./console-lab.ts";
import { CONSOLE_FUZZED, ConsoleMaker, type ConsoleRequest } from "./console-maker.ts";
import { FuzzReport } from "./fuzz-report.ts";
import { wireOf } from "./fuzz-request.ts";
import { type RawAnswer, sendRaw } from "./raw-client.ts";
import { labelOf } from "./request-maker.ts";

const AT_ONCE = 24;
/** After this many requests, ended sessions and roles are restored. */
const BATCH = 96;
/** A request that hangs fails; a busy machine is no reason to. */
const ANSWER_MS_MAX = 180_000;
const SUCCESS_SHARE_MIN = 0.2;
const FAILURES_SHOWN = 40;
const KNOWN = /KNOWN_[a-z0-9_]+/g;

/** Sends this many requests to the console, and checks their effects. */
export async function fuzzConsole({ times, random, say }: ChaosOptions): Promise<void> {
  say(`${times} requests to the console, seed ${random.seed}`);
  await using lab = await openConsoleLab();
  const before = await lab.otherRows();
  must(before.split("\n").length > 10, () => `The other organisation has only: ${before}`);
  const run = new ConsoleRun(lab, random.seed);
  const startMs = performance.now();
  await run.send(times);
  const seconds = (performance.now() - startMs) / 1_000;
  for (const line of run.report.table(CONSOLE_FUZZED.map(labelOf))) say(`  ${line}`);
  run.throwFailures();
  const { errors } = lab.billing.world.api;
  must(errors.length === 0, () => `It logged ${JSON.stringify(errors[0])}`);
  const after = await lab.otherRows();
  must(after === before, () => `Rows of the other organisation changed: ${changed(before, after)}`);
  await lab.prove();
  const share = run.checkShares(times);
  say(
    `  ${(times / seconds).toFixed(0)} requests a second, ${(share * 100).toFixed(0)} % served; ` +
      "nothing of the other organisation was shown or changed; audit clean",
  );
}

function changed(before: string, after: string): string {
  const rows = (text: string) => new Set(text.split("\n"));
  const [gone] = rows(before).difference(rows(after));
  const [come] = rows(after).difference(rows(before));
  return `\n  ${gone}\n  is now\n  ${come}`;
}

class ConsoleRun {
  readonly #maker: ConsoleMaker;
  readonly report = new FuzzReport(FAILURES_SHOWN);

  constructor(
    readonly lab: ConsoleLab,
    seed: number,
  ) {
    const { own, others, belongings } = lab;
    this.#maker = new ConsoleMaker({ seed, own, others, belongings });
  }

  async send(times: number): Promise<void> {
    for (let from = 0; from < times; from += BATCH) {
      let next = from;
      const until = Math.min(times, from + BATCH);
      const lane = async () => {
        while (next < until) {
          const request = this.#maker.make(next);
          next += 1;
          await this.#sendOne(request);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      await this.lab.heal();
    }
  }

  async #sendOne(request: ConsoleRequest): Promise<void> {
    const { endpoint, method, hangUpMs, framing } = request;
    let answer: RawAnswer | null = null;
    try {
      answer = await sendRaw(wireOf(filled(request, this.lab.secrets), this.lab.secrets), {
        port: this.lab.port,
        method,
        ends: framing.kind === "short",
        hangUpMs,
        timeoutMs: ANSWER_MS_MAX,
      });
      if (hangUpMs !== null && !answer?.isWhole) return this.report.count(endpoint, "left");
      if (answer === null && !request.isHttp) return this.report.count(endpoint, "closed");
      if (answer === null) throw new Error("The connection was closed without an answer");
      if (!answer.isWhole) throw new Error("The answer broke off");
      this.report.count(endpoint, String(checkConsole(request, answer)));
    } catch (error) {
      this.report.fail(request, answer, error, ` by ${request.who}`);
    }
  }

  throwFailures(): void {
    const { errors } = this.lab.billing.world.api;
    const logged = errors.slice(0, FAILURES_SHOWN).map(({ fields, message }) => {
      const { err } = fields as { readonly err?: unknown };
      return `  logged: ${message}: ${err instanceof Error ? err.stack : JSON.stringify(fields)}`;
    });
    this.report.throwFailures(logged);
  }

  /** The share of successes, which must not be small: refusals alone would prove little. */
  checkShares(times: number): number {
    let all = 0;
    for (const counts of this.report.counts.values()) all += counts.get("200") ?? 0;
    must(all >= times * SUCCESS_SHARE_MIN, () => `Only ${all} of ${times} requests were served`);
    return all / times;
  }
}

/** The request with real values in place of the names in its body. */
function filled(request: ConsoleRequest, secrets: ReadonlyMap<string, string>): ConsoleRequest {
  if (request.body === null) return request;
  // Decodes one byte a character: bytes that are not UTF-8 stay unchanged.
  const text = Buffer.from(request.body).toString("latin1");
  const body = text.replaceAll(KNOWN, (name) => secrets.get(name) ?? name);
  return { ...request, body: Buffer.from(body, "latin1") };
}
