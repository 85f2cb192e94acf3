// Counts how the requests of a fuzzer ended, and collects their faults.

import { commandOf, type FuzzRequest } from "./fuzz-request.ts";
import type { RawAnswer } from "./raw-client.ts";

export class FuzzReport {
  /** The number of each endpoint's requests by their end. */
  readonly counts = new Map<string, Map<string, number>>();
  /** The failures by their fault, so that one fault is reported once. */
  readonly #failures = new Map<string, string>();

  constructor(
    /** The failures that are shown. */
    readonly shownMax: number,
  ) {}

  count(endpoint: string, end: string): void {
    const counts = this.counts.get(endpoint) ?? new Map<string, number>();
    counts.set(end, (counts.get(end) ?? 0) + 1);
    this.counts.set(endpoint, counts);
  }

  /** `sender` names who sent the request, if there are several senders. */
  fail(request: FuzzRequest, answer: RawAnswer | null, error: unknown, sender = ""): void {
    const { endpoint, number } = request;
    this.count(endpoint, "failed");
    const problem = error instanceof Error ? error.message : String(error);
    const kind = `${endpoint} ${problem.slice(0, 60)}`;
    if (this.#failures.has(kind)) return;
    const came = answer && `${answer.status} ${answer.body.toString().slice(0, 500)}`;
    const title = `Request ${number}${sender} (${endpoint}): ${problem}`;
    this.#failures.set(kind, `${title}\n  answered: ${came}\n  ${commandOf(request)}`);
  }

  /** Throws if a request failed; `logged` has the product's log lines about it. */
  throwFailures(logged: readonly string[] = []): void {
    if (this.#failures.size === 0) return;
    const shown = [...[...this.#failures.values()].slice(0, this.shownMax), ...logged];
    throw new Error(`${this.#failures.size} kinds of wrong answers:\n${shown.join("\n")}`);
  }

  /** The ends of each endpoint's requests, a line for each. */
  table(endpoints: readonly string[]): string[] {
    const width = Math.max(...endpoints.map(({ length }) => length)) + 2;
    return endpoints.map((endpoint) => {
      const counts = [...(this.counts.get(endpoint) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      const ends = counts.map(([end, count]) => `${end}: ${count}`).join("  ");
      return `${endpoint.padEnd(width)}${ends}`;
    });
  }
}
