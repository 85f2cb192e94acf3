// Sends chats of 200 ms, streams and searches side by side, and prints their times as JSON. With a
// rate it is an open loop: requests come when they are due, as those of many users do, however long
// the ones before take. Without one it keeps a fixed number open, which shows the maximum.

import { usd } from "../../src/core/money/money.ts";
import { HttpClient } from "../../src/upstream/http/http-client.ts";
import type { UpstreamInit } from "../../src/upstream/upstream-http.ts";
import { PlainCaller, requestBytes } from "./plain-caller.ts";
import { initOf, numbersFrom, VARIANTS, variantsOf } from "./requests.ts";

export type MixedKind = "chat" | "stream" | "search";

export interface MixedPlan {
  readonly chatUrl: string;
  /** Null: the target has no search, and those requests are left out. */
  readonly searchUrl: string | null;
  readonly callers: readonly Readonly<Record<string, string>>[];
  /** Requests a second; null for as many as `open` at once allow. */
  readonly rate: number | null;
  readonly open: number;
  readonly rampMs: number;
  readonly durationMs: number;
}

export interface MixedResult {
  /** Requests that ended within the time, a second. */
  readonly rate: number;
  readonly failures: number;
  readonly firstFailure: string | null;
  readonly costNano: string;
  /** Milliseconds from when a request was due: of a stream, to its first byte and to its end. */
  readonly times: Readonly<Record<MixedKind | "firstByte", readonly number[]>>;
}

/** The share of each kind. */
const SHARES = [
  { kind: "chat", upTo: 0.8 },
  { kind: "stream", upTo: 0.95 },
  { kind: "search", upTo: 1 },
] as const;
const MODELS = { chat: "slow", stream: "chunks-200", search: "search" } as const;

class MixedLoad {
  readonly #plan: MixedPlan;
  readonly #client = new HttpClient({ monotonicMs: () => performance.now() });
  readonly #next = numbersFrom(7);
  readonly #idle: Record<"chat" | "search", PlainCaller[]> = { chat: [], search: [] };
  readonly #requests: Record<"chat" | "search", readonly Buffer[]>;
  readonly #streams: readonly UpstreamInit[];
  readonly #times = { chat: [] as number[], stream: [] as number[], search: [] as number[] };
  readonly #firstBytes: number[] = [];
  readonly #timedFromMs: number;
  readonly #endMs: number;
  #sent = 0;
  #ended = 0;
  #failures = 0;
  #firstFailure: string | null = null;
  #cost = 0n;

  constructor(plan: MixedPlan) {
    this.#plan = plan;
    const bytesOf = (kind: "chat" | "search") =>
      this.#variants(kind).map(({ body, headers }) =>
        requestBytes(new URL(this.#urlOf(kind)), headers, body),
      );
    this.#requests = { chat: bytesOf("chat"), search: bytesOf("search") };
    this.#streams = this.#variants("stream").map(initOf);
    this.#timedFromMs = performance.now() + plan.rampMs;
    this.#endMs = this.#timedFromMs + plan.durationMs;
  }

  async run(): Promise<MixedResult> {
    const { rate, open } = this.#plan;
    if (rate === null) await Promise.all(Array.from({ length: open }, () => this.#sendInTurn()));
    else await this.#sendWhenDue(rate);
    return {
      rate: this.#ended / (this.#plan.durationMs / 1_000),
      failures: this.#failures,
      firstFailure: this.#firstFailure,
      costNano: this.#cost.toString(),
      times: { ...this.#times, firstByte: this.#firstBytes },
    };
  }

  async #sendInTurn(): Promise<void> {
    for (let now = performance.now(); now < this.#endMs; now = performance.now()) {
      await this.#send(now);
    }
  }

  async #sendWhenDue(rate: number): Promise<void> {
    const open: Promise<void>[] = [];
    let dueMs = performance.now();
    while (dueMs < this.#endMs) {
      while (dueMs <= performance.now()) {
        open.push(this.#send(dueMs));
        dueMs -= (Math.log(1 - this.#next()) * 1_000) / rate;
      }
      await Bun.sleep(1);
    }
    await Promise.all(open);
  }

  async #send(dueMs: number): Promise<void> {
    const drawn = this.#next();
    const kind = SHARES.find(({ upTo }) => drawn < upTo)?.kind ?? "chat";
    const number = this.#sent % VARIANTS;
    this.#sent += 1;
    if (kind === "search" && this.#plan.searchUrl === null) return;
    try {
      if (kind === "stream") await this.#stream(number, dueMs);
      else await this.#call(kind, number);
      this.#note(this.#times[kind], dueMs);
      if (performance.now() < this.#endMs && performance.now() >= this.#timedFromMs) {
        this.#ended += 1;
      }
    } catch (error) {
      this.#failures += 1;
      this.#firstFailure ??= `${kind}: ${error}`;
    }
  }

  async #call(kind: "chat" | "search", number: number): Promise<void> {
    const idle = this.#idle[kind];
    const caller = idle.pop() ?? new PlainCaller(new URL(this.#urlOf(kind)));
    const request = this.#requests[kind][number] ?? Buffer.alloc(0);
    const { status, costUsd, body } = await caller.call(request);
    idle.push(caller);
    if (status !== 200) throw new Error(`${status}: ${body}`);
    if (costUsd !== null) this.#cost += usd(costUsd);
  }

  async #stream(number: number, dueMs: number): Promise<void> {
    const init = this.#streams[number];
    if (init === undefined) throw new Error(`There is no request ${number}`);
    const response = await this.#client.fetch(this.#plan.chatUrl, init);
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    let end = "";
    for await (const piece of response.body ?? []) {
      if (end === "") this.#note(this.#firstBytes, dueMs);
      end = end.slice(-2_000) + Buffer.from(piece).toString();
    }
    if (!end.endsWith("data: [DONE]\n\n")) throw new Error(`The stream broke off: ${end}`);
    const paid = /"cost_usd":([\d.]+)/.exec(end.slice(-2_000))?.[1];
    if (paid !== undefined) this.#cost += usd(paid);
  }

  /** Keeps the time of a request that was due while times are taken. */
  #note(times: number[], dueMs: number): void {
    if (dueMs >= this.#timedFromMs && dueMs < this.#endMs) times.push(performance.now() - dueMs);
  }

  #urlOf(kind: MixedKind): string {
    const { chatUrl, searchUrl } = this.#plan;
    return kind === "search" ? (searchUrl ?? chatUrl) : chatUrl;
  }

  #variants(kind: MixedKind) {
    return variantsOf({ model: MODELS[kind], stream: kind === "stream" }, this.#plan.callers);
  }
}

if (import.meta.main) {
  const result = await new MixedLoad(JSON.parse(process.argv[2] ?? "") as MixedPlan).run();
  console.log(JSON.stringify(result));
  process.exit(0);
}
