// The events of a streamed response with searches: those of its rounds one after the other, and
// those of the searches between them.

import type { Clock } from "../../../../../core/clock.ts";
import type { Taker } from "../../../../../core/taker.ts";
import type { Cutter } from "../../../../../http/sse.ts";
import type { ChatStream } from "../../../chat-stream.ts";
import type { StreamEvent } from "../../../stream-event.ts";
import { KEEP_ALIVE_MS } from "../../../stream-interruptions.ts";
import type { EventSource } from "../../stream-frames.ts";
import { RoundReply } from "./round-reply.ts";
import type { SearchRounds } from "./search-rounds.ts";
import type { Searched } from "./search-words.ts";

export interface SearchStreamParts {
  readonly rounds: SearchRounds;
  readonly clock: Pick<Clock, "after">;
  readonly first: ChatStream;
  /** Opens the stream of the current round. */
  readonly open: () => Promise<ChatStream>;
}

/** An event of such a stream. */
export type SearchStreamEvent =
  | StreamEvent
  /** The next search of the round begins. */
  | { readonly kind: "searching" }
  /** The search ended. `isLast`: no round follows in which the model reads it. */
  | { readonly kind: "searched"; readonly search: Searched; readonly isLast: boolean }
  /** The next round begins. */
  | { readonly kind: "round" };

type EndEvent = Extract<StreamEvent, { readonly kind: "end" }>;
type ErrorEvent = Extract<StreamEvent, { readonly kind: "error" }>;
type Step = () => Promise<SearchStreamEvent>;

export class SearchStream implements EventSource<SearchStreamEvent>, Taker<StreamEvent> {
  readonly #rounds: SearchRounds;
  readonly #clock: Pick<Clock, "after">;
  readonly #open: () => Promise<ChatStream>;
  readonly served: ChatStream["served"];
  #stream: ChatStream;
  #reply = new RoundReply();
  #taker: Taker<SearchStreamEvent> | null = null;
  /** The steps that are left before the current stream is read. */
  readonly #steps: Step[] = [];
  #isOver = false;
  /** True while a step runs, or its event waits for the reader. */
  #isBusy = false;
  #done: (() => void) | null = null;
  /** Set while the reader waits for a step. */
  #callOff: (() => void) | null = null;
  #cutter: Cutter | null = null;

  constructor({ rounds, clock, first, open }: SearchStreamParts) {
    this.#clock = clock;
    this.#rounds = rounds;
    this.#open = open;
    this.#stream = first;
    this.served = first.served;
  }

  get cutter(): Cutter | null {
    return this.#cutter;
  }

  set cutter(cutter: Cutter | null) {
    this.#cutter = cutter;
    this.#stream.cutter = cutter;
  }

  pull(taker: Taker<SearchStreamEvent>): void {
    this.#taker = taker;
    if (this.#isBusy) {
      this.#awaits();
      return;
    }
    const step = this.#steps.shift();
    if (step !== undefined) this.#run(step);
    else if (this.#isOver) taker.end();
    else this.#stream.pull(this);
  }

  take(event: StreamEvent): void {
    if (event.kind === "deltas") {
      for (const delta of event.deltas) this.#reply.take(delta);
      this.#taker?.take(event);
    } else if (event.kind === "end") this.#endRound(event);
    else if (event.kind === "error") this.#run(() => this.#broken(event));
    else this.#taker?.take(event);
  }

  /** The stream of a round ends without a last event only if its caller is gone. */
  end(): void {
    this.#close(() => this.#taker?.end());
  }

  fail(error: unknown): void {
    this.#close(() => this.#taker?.fail(error));
  }

  cancel(): void {
    this.#rounds.leave();
    this.#stream.cancel();
    this.#close(() => {});
  }

  #endRound(event: EndEvent): void {
    const reply = this.#reply;
    this.#rounds.ended(event);
    const results: Searched[] = [];
    const isCut = event.isCut || this.#rounds.isCut(reply);
    const isLast = isCut || !this.#rounds.isContinued(reply);
    for (const call of isCut ? [] : reply.searches) {
      // The caller learns of the search before it is made.
      this.#steps.push(() => Promise.resolve({ kind: "searching" }));
      this.#steps.push(async () => {
        const search = await this.#rounds.search(call);
        results.push(search);
        return { kind: "searched", search, isLast };
      });
    }
    const conclude = () => this.#conclude(isCut);
    this.#steps.push(isLast ? conclude : () => this.#continue(reply, results));
    const [first = conclude] = this.#steps.splice(0, 1);
    this.#run(first);
  }

  async #continue(reply: RoundReply, results: readonly Searched[]): Promise<SearchStreamEvent> {
    await this.#rounds.next(reply, results);
    this.#stream = await this.#open();
    this.#stream.cutter = this.#cutter;
    if (this.#rounds.hasLeft) this.#stream.cancel();
    this.#reply = new RoundReply();
    return { kind: "round" };
  }

  async #conclude(isCut: boolean): Promise<SearchStreamEvent> {
    this.#isOver = true;
    await this.#rounds.end();
    return { kind: "end", isCut, ...this.#rounds.total };
  }

  /**
   * Ends the response after a broken round. The part of the round that the caller got is charged.
   */
  #broken({ error, ended }: ErrorEvent): Promise<SearchStreamEvent> {
    if (ended !== undefined) this.#rounds.ended(ended);
    return this.#failed(error);
  }

  async #failed(error: unknown): Promise<SearchStreamEvent> {
    this.#isOver = true;
    this.#steps.length = 0;
    await this.#rounds.end();
    return { kind: "error", error: this.#rounds.reasonOf(error), ended: this.#rounds.total };
  }

  #run(step: Step): void {
    this.#isBusy = true;
    this.#awaits();
    step()
      .catch((error: unknown) => this.#failed(error))
      .then(
        (event) => this.#did(() => this.#taker?.take(event)),
        (error: unknown) => this.#did(() => this.#taker?.fail(error)),
      );
  }

  /**
   * Delivers the event of the step if the step has ended. Otherwise the reader waits for the event,
   * or for a sign of life.
   */
  #awaits(): void {
    const tell = this.#done;
    this.#done = null;
    if (tell !== null) {
      this.#isBusy = false;
      tell();
      return;
    }
    this.#callOff = this.#clock.after(KEEP_ALIVE_MS, () => {
      this.#callOff = null;
      this.#taker?.take({ kind: "thinking" });
    });
  }

  /** The step has ended. If the reader is not waiting now, its next pull gets the event. */
  #did(tell: () => void): void {
    if (this.#callOff === null) {
      this.#done = tell;
      return;
    }
    this.#callOff();
    this.#callOff = null;
    this.#isBusy = false;
    tell();
  }

  #close(then: () => void): void {
    this.#isOver = true;
    this.#callOff?.();
    this.#callOff = null;
    this.#steps.length = 0;
    this.#rounds.end().then(then, (error: unknown) => this.#taker?.fail(error));
  }
}
