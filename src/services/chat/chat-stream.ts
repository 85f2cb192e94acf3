// A streamed chat call from its first batch to its settlement. It owns the hold and settles it
// whether or not anybody still reads: the reader only pulls.

import type { Hold, Settlement } from "../../../actors/account.ts";
import { type Call, elapsedMs, outcomeOf } from "../../calls/call.ts";
import type { Interruption } from "../../calls/interruption.ts";
import { settle } from "../../calls/settling.ts";
import { type ApiError, OK, toApiError } from "../../core/errors.ts";
import { CHAT, LEASE_RENEWAL_MS } from "../../core/limits.ts";
import { ZERO } from "../../core/money.ts";
import { exactCost } from "../../core/pricing.ts";
import type { StreamTurn } from "./abandoned-streams.ts";
import type { ModelEntry } from "./catalogue.ts";
import type { ChatCallDeps } from "./chat-admission.ts";
import { servedInstead } from "./model-fallback.ts";
import type { Batches, BatchTaker } from "./providers/batches.ts";
import type { ChatBatch, ChatDelta, ChatRequest, ChatUsage } from "./providers/provider.ts";
import { NOT_READING, SILENT_UPSTREAM, TOO_LONG } from "./stream-interruptions.ts";
import { StreamLimit } from "./stream-limit.ts";
import { StreamUsage } from "./stream-usage.ts";
import { textOf } from "./token-meter.ts";

export type StreamEvent =
  | {
      readonly kind: "deltas";
      readonly deltas: readonly ChatDelta[];
      readonly fingerprint: string | null;
    }
  | {
      readonly kind: "end";
      readonly usage: ChatUsage;
      readonly settlement: Settlement;
      /** Whether it ended here because it had cost all that was held. */
      readonly isCut: boolean;
    }
  /** The stream broke off; what was sent until then is charged. */
  | { readonly kind: "error"; readonly error: ApiError };

export interface ChatStreamParts {
  readonly call: Call;
  readonly request: ChatRequest;
  /** The model that answers. */
  readonly model: ModelEntry;
  /** The models asked, in order; the last of them answers. */
  readonly tried: readonly ModelEntry[];
  /** The server that answers. */
  readonly lane: string;
  readonly hold: Hold;
  readonly interruption: Interruption;
  readonly batches: Batches;
  /** Lets the next stream of the key begin, should it have to wait for this one. */
  readonly turn: StreamTurn;
  /** The output tokens that the model was asked for. */
  readonly maxTokens: number;
}

interface StreamResult {
  readonly usage: ChatUsage;
  readonly settlement: Settlement;
}

const NO_USAGE: ChatUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

/** Takes what a stream brings. Each `pull` is answered by exactly one of these, maybe at once. */
export interface StreamTaker {
  onEvent(event: StreamEvent): void;
  /** Nothing comes any more. */
  onEnd(): void;
  /** A mistake of ours: the stream cannot say how it ended. */
  onFault(error: unknown): void;
}

export class ChatStream implements BatchTaker {
  readonly #deps: ChatCallDeps;
  readonly #parts: ChatStreamParts;
  readonly #usage: StreamUsage;
  readonly #limit: StreamLimit;
  readonly #openedMs: number;
  /** What the last event carried; it counts as sent once the reader asks for more. */
  #unread: readonly ChatDelta[] = [];
  /** The part of a batch that was not handed over yet. */
  #backlog: ChatBatch | null = null;
  #firstTokenMs: number | null = null;
  #waitsFor: "upstream" | "client" = "client";
  /** When the last event was handed over, or the stream opened. */
  #deliveredMs: number;
  #checkpointMs: number;
  #callOffWatch: () => void = () => {};
  #result: Promise<StreamResult> | null = null;
  #isOver = false;
  #taker: StreamTaker | null = null;
  /** Called when the connection must be cut, because the client does not read what it is sent. */
  onCut: () => void = () => {};

  constructor(deps: ChatCallDeps, parts: ChatStreamParts) {
    this.#deps = deps;
    this.#parts = parts;
    const account = parts.call.identity.accountId;
    const usage = new StreamUsage({ tokens: deps.tokens, account, request: parts.request });
    this.#usage = usage;
    const { meter } = usage;
    this.#limit = new StreamLimit({ ...parts, meter, promptUsage: () => usage.prompt() });
    this.#openedMs = deps.clock.monotonicMs();
    this.#deliveredMs = this.#openedMs;
    this.#checkpointMs = this.#openedMs;
    parts.interruption.onInterrupt = () => this.#onInterrupt();
    if (parts.interruption.reason === null) this.#watch();
    else this.#onInterrupt();
  }

  /** Which model answers, and which were asked before it. */
  get served(): Pick<ChatStreamParts, "model" | "tried"> {
    return this.#parts;
  }

  /** Asks for what comes next. To ask means that everything before was read. */
  pull(taker: StreamTaker): void {
    this.#taker = taker;
    if (this.#isOver) {
      taker.onEnd();
      return;
    }
    this.#usage.meter.add(this.#unread);
    this.#unread = [];
    if (this.#usage.meter.started) this.#parts.turn.end();
    this.#waitsFor = "upstream";
    if (!this.#limit.isDue) this.#goOn();
    else this.#limit.isReached().then((isReached) => this.#goOn(isReached), this.#onUncounted);
  }

  /** Hands over what comes next, unless the stream has cost all that is held. */
  #goOn(isReached = false): void {
    const backlog = this.#backlog;
    if (this.#parts.interruption.reason !== null) this.#conclude(this.#afterInterruption());
    else if (isReached) this.#conclude(this.#cut());
    else if (backlog === null) this.#parts.batches.pull(this);
    else this.#deliver(backlog);
  }

  onBatch(batch: ChatBatch): void {
    const { interruption, batches } = this.#parts;
    if (interruption.reason !== null) {
      this.#conclude(this.#afterInterruption());
      return;
    }
    this.#usage.reported = batch.usage ?? this.#usage.reported;
    if (batch.deltas.length > 0) this.#deliver(batch);
    else batches.pull(this);
  }

  onEnd(): void {
    const wasInterrupted = this.#parts.interruption.reason !== null;
    this.#conclude(wasInterrupted ? this.#afterInterruption() : this.#complete());
  }

  onFailure(error: unknown): void {
    const wasInterrupted = this.#parts.interruption.reason !== null;
    this.#conclude(wasInterrupted ? this.#afterInterruption() : this.#fail(toApiError(error)));
  }

  /** The client is gone: the upstream request ends now and the call is settled. */
  cancel(): void {
    this.#parts.interruption.clientGone();
  }

  #deliver(batch: ChatBatch): void {
    const { fingerprint = null } = batch;
    const count = this.#limit.first(batch.deltas);
    const isWhole = count === batch.deltas.length;
    const deltas = isWhole ? batch.deltas : batch.deltas.slice(0, count);
    this.#backlog = isWhole ? null : { ...batch, deltas: batch.deltas.slice(count) };
    const nowMs = this.#deps.clock.monotonicMs();
    this.#unread = deltas;
    this.#waitsFor = "client";
    this.#deliveredMs = nowMs;
    if (this.#firstTokenMs === null && deltas.some((delta) => textOf(delta) !== "")) {
      this.#firstTokenMs = elapsedMs(this.#deps, this.#parts.call);
    }
    if (this.#usage.meter.started && nowMs - this.#checkpointMs >= LEASE_RENEWAL_MS) {
      this.#checkpointMs = nowMs;
      void this.#checkpoint();
    }
    this.#taker?.onEvent({ kind: "deltas", deltas, fingerprint });
  }

  readonly #onUncounted = (error: unknown): void => this.onFailure(error);

  /** Hands over the last event, once the call is settled; after it comes only the end. */
  #conclude(ending: Promise<StreamEvent | null>): void {
    this.#isOver = true;
    ending.then(
      (event) => (event === null ? this.#taker?.onEnd() : this.#taker?.onEvent(event)),
      (error) => this.#taker?.onFault(error),
    );
  }

  async #afterInterruption(): Promise<StreamEvent | null> {
    await this.#result;
    const error = this.#parts.interruption.reason?.error;
    return error ? { kind: "error", error } : null;
  }

  async #complete(): Promise<StreamEvent> {
    const { usage, settlement } = await this.#finish(null, () => this.#usage.whole());
    return { kind: "end", usage, settlement, isCut: false };
  }

  /** Ends a stream that has cost all that is held; the upstream is not heard any further. */
  async #cut(): Promise<StreamEvent> {
    const { batches, call } = this.#parts;
    batches.cancel();
    this.#deps.log.warn({ requestId: call.requestId }, "A stream cost more than its hold");
    const { usage, settlement } = await this.#finish(null, () => this.#usage.streamed());
    return { kind: "end", usage, settlement, isCut: true };
  }

  async #fail(error: ApiError): Promise<StreamEvent> {
    const { requestId } = this.#parts.call;
    this.#deps.log.warn({ requestId, err: error.cause ?? error }, "A stream broke off");
    await this.#finish(error.code, () => this.#usage.streamed());
    return { kind: "error", error };
  }

  /** Ends the call when the upstream is still sending, or the client not reading. */
  #onInterrupt(): void {
    const { batches, interruption } = this.#parts;
    void this.#finish(interruption.reason?.code ?? null, () => this.#usage.streamed());
    // Lets the provider tidy up, even if it stands between two batches.
    batches.cancel();
    if (interruption.reason === NOT_READING) this.onCut();
  }

  /** Settles the call once, for whoever comes first, and watches it no longer. */
  #finish(
    errorCode: string | null,
    countUsage: () => Promise<ChatUsage | null>,
  ): Promise<StreamResult> {
    this.#result ??= this.#settle(errorCode, countUsage);
    return this.#result;
  }

  async #settle(
    errorCode: string | null,
    countUsage: () => Promise<ChatUsage | null>,
  ): Promise<StreamResult> {
    const { call, model, lane, hold, interruption, turn } = this.#parts;
    this.#callOffWatch();
    interruption.stopListening();
    const isByClient = interruption.reason?.error === null;
    if (isByClient && !this.#usage.meter.started) turn.abandon();
    turn.end();
    let usage: ChatUsage | null = null;
    try {
      usage = await countUsage();
    } catch (error) {
      this.#deps.log.error({ requestId: call.requestId, err: error }, "Tokens were not counted");
    }
    const settlement = await settle(this.#deps, {
      hold,
      cost: usage === null ? ZERO : exactCost(model.bands, usage),
      outcome: {
        ...outcomeOf(this.#deps, call, { status: OK, errorCode }),
        ...usage,
        ...servedInstead(this.#parts),
        firstTokenMs: this.#firstTokenMs,
        lane,
      },
    });
    return { usage: usage ?? NO_USAGE, settlement };
  }

  /** Tells the lease what was streamed so far, should this process die. */
  async #checkpoint(): Promise<void> {
    const { call, model, hold } = this.#parts;
    try {
      const usage = await this.#usage.settled();
      if (this.#result !== null) return;
      hold.checkpoint(exactCost(model.bands, usage));
    } catch (error) {
      this.#deps.log.error({ requestId: call.requestId, err: error }, "Tokens were not counted");
    }
  }

  /** One timer for both limits: it is set again, not moved, as batches go by. */
  #watch(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    const idleAtMs = this.#deliveredMs + CHAT.streamIdleMs;
    const endsAtMs = this.#openedMs + CHAT.streamMaxMs;
    if (nowMs >= endsAtMs) this.#parts.interruption.interrupt(TOO_LONG);
    else if (nowMs >= idleAtMs) {
      this.#parts.interruption.interrupt(
        this.#waitsFor === "upstream" ? SILENT_UPSTREAM : NOT_READING,
      );
    } else {
      const delayMs = Math.min(idleAtMs, endsAtMs) - nowMs;
      this.#callOffWatch = this.#deps.clock.after(delayMs, () => this.#watch());
    }
  }
}
