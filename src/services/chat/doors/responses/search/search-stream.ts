// The events of a streamed response with searches: those of its rounds one after the other, and
// those of the searches between them.

import { toApiError } from "../../../../../core/errors.ts";
import type { Taker } from "../../../../../core/taker.ts";
import type { Cutter } from "../../../../../http/sse.ts";
import type { ChatStream } from "../../../chat-stream.ts";
import type { StreamEvent } from "../../../stream-event.ts";
import type { EventSource } from "../../stream-frames.ts";
import { RoundReply } from "./round-reply.ts";
import type { SearchRounds } from "./search-rounds.ts";
import type { Searched } from "./search-words.ts";

export interface SearchStreamParts {
  readonly rounds: SearchRounds;
  readonly first: ChatStream;
  /** Opens the stream of the current round. */
  readonly open: () => Promise<ChatStream>;
}

/** An event of such a stream. */
export type SearchStreamEvent =
  | StreamEvent
  /** The next search of the round begins. */
  | { readonly kind: "searching" }
  /** It ended. `isLast`: no round follows in which the model reads it. */
  | { readonly kind: "searched"; readonly search: Searched; readonly isLast: boolean }
  /** The next round begins. */
  | { readonly kind: "round" };

type EndEvent = Extract<StreamEvent, { readonly kind: "end" }>;
type Step = () => Promise<SearchStreamEvent>;

export class SearchStream implements EventSource<SearchStreamEvent>, Taker<StreamEvent> {
  readonly #rounds: SearchRounds;
  readonly #open: () => Promise<ChatStream>;
  readonly served: ChatStream["served"];
  #stream: ChatStream;
  #reply = new RoundReply();
  #taker: Taker<SearchStreamEvent> | null = null;
  /** What is left to do before the current stream is read. */
  readonly #steps: Step[] = [];
  #isOver = false;
  #cutter: Cutter | null = null;

  constructor({ rounds, first, open }: SearchStreamParts) {
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
    else if (event.kind === "error") this.#run(() => this.#failed(event.error));
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
    const isLast = event.isCut || !this.#rounds.isContinued(reply);
    for (const call of event.isCut ? [] : reply.searches) {
      // The caller learns of the search before it is made.
      this.#steps.push(() => Promise.resolve({ kind: "searching" }));
      this.#steps.push(async () => {
        const search = await this.#rounds.search(call);
        results.push(search);
        return { kind: "searched", search, isLast };
      });
    }
    this.#steps.push(() => (isLast ? this.#conclude(event) : this.#continue(reply, results)));
    const [first = () => this.#conclude(event)] = this.#steps.splice(0, 1);
    this.#run(first);
  }

  async #continue(reply: RoundReply, results: readonly Searched[]): Promise<SearchStreamEvent> {
    this.#rounds.next(reply, results);
    this.#stream = await this.#open();
    this.#stream.cutter = this.#cutter;
    if (this.#rounds.hasLeft) this.#stream.cancel();
    this.#reply = new RoundReply();
    return { kind: "round" };
  }

  async #conclude({ isCut }: EndEvent): Promise<SearchStreamEvent> {
    this.#isOver = true;
    await this.#rounds.end();
    return { kind: "end", isCut, ...this.#rounds.total };
  }

  async #failed(error: unknown): Promise<SearchStreamEvent> {
    this.#isOver = true;
    this.#steps.length = 0;
    await this.#rounds.end();
    return { kind: "error", error: toApiError(error) };
  }

  #run(step: Step): void {
    step()
      .catch((error: unknown) => this.#failed(error))
      .then(
        (event) => this.#taker?.take(event),
        (error: unknown) => this.#taker?.fail(error),
      );
  }

  #close(then: () => void): void {
    this.#isOver = true;
    this.#steps.length = 0;
    this.#rounds.end().then(then, (error: unknown) => this.#taker?.fail(error));
  }
}
