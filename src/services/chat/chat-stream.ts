// A streamed chat call from its first batch to its settlement. The stream owns the hold and always
// settles it, even if the client no longer reads.

import type { Hold, Settlement } from "../../../actors/account.ts";
import { type Call, elapsedMs, outcomeOf } from "../../calls/call.ts";
import type { Interruption, InterruptionListener } from "../../calls/interruption.ts";
import { settle } from "../../calls/settling.ts";
import { CHAT } from "../../core/access/limits.ts";
import { type ApiError, OK, toApiError } from "../../core/errors.ts";
import { ZERO } from "../../core/money/money.ts";
import type { Taker } from "../../core/taker.ts";
import type { BodyShare } from "../../http/body/body-shares.ts";
import type { Cutter } from "../../http/sse.ts";
import type { StreamTurn } from "./abandoned-streams.ts";
import type { ChatCallDeps, SentLimit } from "./chat-admission.ts";
import type { Batches } from "./protocols/batches.ts";
import { CONTENT_FILTER, LENGTH } from "./protocols/openai/finish-reason.ts";
import type { ChatBatch, ChatDelta, ChatRequest, ChatUsage } from "./protocols/provider.ts";
import { costOf, type ServedBy, servedOutcome } from "./served-model.ts";
import { StreamCost } from "./stream-cost.ts";
import type { EndedStream, StreamEvent } from "./stream-event.ts";
import { KEEP_ALIVE_MS, NOT_READING, SILENT_UPSTREAM, TOO_LONG } from "./stream-interruptions.ts";
import { StreamLimit } from "./stream-limit.ts";
import { NO_USAGE, StreamUsage } from "./stream-usage.ts";
import { deltaText } from "./tokens/token-meter.ts";

export interface ChatStreamParts extends ServedBy, SentLimit {
  readonly call: Call;
  readonly request: ChatRequest;
  /** The prompt's part of the account's share of memory, until the stream is settled. */
  readonly room: BodyShare | null;
  readonly hold: Hold;
  readonly interruption: Interruption;
  readonly batches: Batches;
  /** If the next stream of the key must wait for this one, `turn.end` lets it start. */
  readonly turn: StreamTurn;
}

export class ChatStream implements Taker<ChatBatch>, InterruptionListener {
  readonly #deps: ChatCallDeps;
  readonly #parts: ChatStreamParts;
  readonly #usage: StreamUsage;
  readonly #limit: StreamLimit;
  readonly #cost: StreamCost;
  readonly #openedMs: number;
  /** The deltas of the last event. The deltas count as sent once the reader pulls again. */
  #unread: readonly ChatDelta[] = [];
  /** The part of a batch that is not delivered yet. */
  #backlog: ChatBatch | null = null;
  #firstTokenMs: number | null = null;
  #isContentRefused = false;
  /** True if the reply ended at its output limit, or at its hold. */
  #isAtLimit = false;
  #waitsFor: "upstream" | "client" = "client";
  /** The time of the last event's delivery, or of the stream's start. */
  #deliveredMs: number;
  #callOffWatch: (() => void) | null = null;
  #result: Promise<EndedStream> | null = null;
  #isOver = false;
  #taker: Taker<StreamEvent> | null = null;
  /** Cuts the connection, because the client does not read. */
  cutter: Cutter | null = null;

  constructor(deps: ChatCallDeps, parts: ChatStreamParts) {
    this.#deps = deps;
    this.#parts = parts;
    const { call, interruption } = parts;
    const usage = new StreamUsage(deps.tokens, call.identity.accountId, parts);
    this.#usage = usage;
    const tokensEach = deps.pieceTokens.expected(parts.model);
    this.#limit = new StreamLimit(parts, usage, tokensEach);
    this.#cost = new StreamCost(parts, usage, tokensEach);
    parts.hold.measure(this.#cost);
    this.#openedMs = deps.clock.monotonicMs();
    this.#deliveredMs = this.#openedMs;
    interruption.listener = this;
    if (interruption.reason === null) this.#watch();
    else this.onInterrupt();
  }

  /** The model and the route that answer, and all models that were asked. */
  get served(): ServedBy & SentLimit {
    return this.#parts;
  }

  /** Requests the next event. This also confirms that all earlier events were delivered. */
  pull(taker: Taker<StreamEvent>): void {
    this.#taker = taker;
    if (this.#isOver) {
      taker.end();
      return;
    }
    this.#usage.meter.add(this.#unread);
    this.#unread = [];
    if (this.#usage.meter.started) this.#parts.turn.end();
    if (this.#cost.isDue) this.#parts.hold.saveCost();
    this.#waitsFor = "upstream";
    if (!this.#limit.isDue) this.#continue();
    else
      this.#limit.isReached().then(
        (is) => this.#continue(is),
        (error) => this.fail(error),
      );
  }

  /** Delivers the next event, unless the stream has used up its hold. */
  #continue(isReached = false): void {
    const backlog = this.#backlog;
    if (this.#parts.interruption.reason !== null) this.#conclude(this.#afterInterruption());
    else if (isReached) this.#conclude(this.#cut());
    else if (backlog === null) this.#parts.batches.pull(this);
    else this.#deliver(backlog);
  }

  take(batch: ChatBatch): void {
    const { interruption, batches } = this.#parts;
    if (interruption.reason !== null) {
      this.#conclude(this.#afterInterruption());
      return;
    }
    this.#usage.take(batch);
    const reason = batch.deltas.at(-1)?.finish_reason;
    if (reason === CONTENT_FILTER) this.#isContentRefused = true;
    else if (reason === LENGTH) this.#isAtLimit = true;
    if (batch.deltas.length > 0) this.#deliver(batch);
    else if (batch.usage !== null || !this.#keepAlive()) batches.pull(this);
  }

  end(): void {
    const wasInterrupted = this.#parts.interruption.reason !== null;
    this.#conclude(wasInterrupted ? this.#afterInterruption() : this.#complete());
  }

  fail(error: unknown): void {
    const wasInterrupted = this.#parts.interruption.reason !== null;
    this.#conclude(wasInterrupted ? this.#afterInterruption() : this.#breakOff(toApiError(error)));
  }

  /** The client is gone: aborts the upstream request and settles the call. */
  cancel(): void {
    this.#parts.interruption.clientGone();
  }

  /** Tells the client now and then that the model thinks. False before the next time to do so. */
  #keepAlive(): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#deliveredMs < KEEP_ALIVE_MS) return false;
    this.#waitsFor = "client";
    this.#deliveredMs = nowMs;
    this.#taker?.take({ kind: "thinking" });
    return true;
  }

  #deliver(batch: ChatBatch): void {
    const { fingerprint = null } = batch;
    const count = this.#limit.countBeforeDue(batch.deltas);
    const isWhole = count === batch.deltas.length;
    const deltas = isWhole ? batch.deltas : batch.deltas.slice(0, count);
    this.#backlog = isWhole ? null : { ...batch, deltas: batch.deltas.slice(count) };
    this.#unread = deltas;
    this.#waitsFor = "client";
    this.#deliveredMs = this.#deps.clock.monotonicMs();
    if (this.#firstTokenMs === null && deltas.some((delta) => deltaText(delta) !== "")) {
      this.#firstTokenMs = elapsedMs(this.#deps, this.#parts.call);
    }
    this.#isContentRefused ||= deltas.some(isRefusal);
    this.#taker?.take({ kind: "deltas", deltas, fingerprint });
  }

  /** Delivers the last event once the call is settled. After this event the stream only ends. */
  #conclude(lastEvent: Promise<StreamEvent | null>): void {
    this.#isOver = true;
    lastEvent.then(
      (event) => (event === null ? this.#taker?.end() : this.#taker?.take(event)),
      (error) => this.#taker?.fail(error),
    );
  }

  async #afterInterruption(): Promise<StreamEvent | null> {
    const ended = await this.#result;
    const error = this.#parts.interruption.reason?.error;
    if (!error) return null;
    return { kind: "error", error, ...(ended !== null && { ended }) };
  }

  async #complete(): Promise<StreamEvent> {
    const { usage, settlement } = await this.#finish(null, () => this.#usage.whole());
    return { kind: "end", usage, settlement: this.#paid(settlement), isCut: false };
  }

  /** Ends a stream that has used up its hold, and aborts the upstream request. */
  async #cut(): Promise<StreamEvent> {
    const { batches, call, isCostBound } = this.#parts;
    batches.cancel();
    this.#deps.log.warn({ requestId: call.requestId }, "A stream cost more than its hold");
    this.#deps.meter?.streamCut(isCostBound ? "cap" : "hold");
    this.#isAtLimit = true;
    const { usage, settlement } = await this.#finish(null, () => this.#usage.streamed());
    return { kind: "end", usage, settlement: this.#paid(settlement), isCut: true };
  }

  /** True if the caller's cap of the cost ended the reply. */
  get #isCostStopped(): boolean {
    return this.#parts.isCostBound && this.#isAtLimit;
  }

  /** The settlement, with the reason if the caller's cap of the cost ended the reply. */
  #paid(settlement: Settlement): Settlement {
    return this.#isCostStopped ? { ...settlement, stoppedBy: "max_cost" } : settlement;
  }

  async #breakOff(error: ApiError): Promise<StreamEvent> {
    const { requestId } = this.#parts.call;
    this.#isContentRefused ||= error.isContentRefusal;
    const { code, cause } = error;
    // A refused request has no cause: its message is in the server's words, which may quote it.
    this.#deps.log.warn({ requestId, code, err: cause }, "A stream broke off");
    const ended = await this.#finish(error.code, () => this.#usage.streamed());
    return { kind: "error", error, ended };
  }

  /** Ends the call at once, even if the upstream is still sending or the client does not read. */
  onInterrupt(): void {
    const { batches, interruption } = this.#parts;
    void this.#finish(interruption.reason?.code ?? null, () => this.#usage.streamed());
    // The provider must release the request, even between two batches.
    batches.cancel();
    if (interruption.reason === NOT_READING) this.cutter?.cut();
  }

  /** Settles the call. Only the first call of this method has an effect. */
  #finish(
    errorCode: string | null,
    countUsage: () => Promise<ChatUsage | null>,
  ): Promise<EndedStream> {
    this.#result ??= this.#settle(errorCode, countUsage);
    return this.#result;
  }

  async #settle(
    errorCode: string | null,
    countUsage: () => Promise<ChatUsage | null>,
  ): Promise<EndedStream> {
    const { call, model, hold, room, interruption, turn } = this.#parts;
    this.#callOffWatch?.();
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
    this.#usage.end();
    room?.end();
    if (usage !== null) {
      const { pieces } = this.#usage.meter;
      this.#deps.pieceTokens.learn(model, { tokens: usage.completionTokens, pieces });
    }
    const settlement = await settle(this.#deps, {
      call,
      hold,
      cost: usage === null ? ZERO : costOf(model.prices, usage, this.#parts),
      outcome: {
        ...outcomeOf(this.#deps, call, { status: OK, errorCode }),
        ...usage,
        ...servedOutcome(this.#parts, {
          usage,
          source: this.#usage.source,
          isContentRefused: this.#isContentRefused,
          isCostStopped: errorCode === null && this.#isCostStopped,
        }),
        firstTokenMs: this.#firstTokenMs,
      },
    });
    return { usage: usage ?? NO_USAGE, settlement };
  }

  /** Checks both time limits with one timer, which is not reset for each batch. */
  #watch(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    const idleAtMs = this.#deliveredMs + CHAT.streamIdleMs;
    const endsAtMs = this.#parts.call.endsAtMs ?? this.#openedMs + CHAT.streamMaxMs;
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

/** True for a piece of the text with which a model refuses to answer. */
function isRefusal({ delta }: ChatDelta): boolean {
  return Boolean(delta.refusal);
}
