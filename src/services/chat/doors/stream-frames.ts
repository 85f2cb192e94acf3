// Turns the events of a streamed call into frames. Each door writes its own.

import type { Pull, Taker } from "../../../core/taker.ts";
import type { Cutter, FrameSource } from "../../../http/sse.ts";
import type { StreamEvent } from "../stream-event.ts";

/** A source of the events of a stream, which settles its calls if it is cancelled. */
export interface EventSource<Event> extends Pull<Event>, Pick<FrameSource, "cancel" | "cutter"> {}

/** The frames of one stream. A pull also means that the client has the earlier frames. */
export abstract class StreamFrames<Event = StreamEvent> implements FrameSource, Taker<Event> {
  readonly #stream: EventSource<Event>;
  #taker: Taker<string> | null = null;

  constructor(stream: EventSource<Event>) {
    this.#stream = stream;
  }

  /** The frames of an event; empty if the client gets nothing of it. */
  protected abstract framesOf(event: Event): string;

  get cutter(): Cutter | null {
    return this.#stream.cutter;
  }

  set cutter(cutter: Cutter | null) {
    this.#stream.cutter = cutter;
  }

  pull(taker: Taker<string>): void {
    this.#taker = taker;
    this.#stream.pull(this);
  }

  take(event: Event): void {
    const frames = this.framesOf(event);
    if (frames === "") this.#stream.pull(this);
    else this.#taker?.take(frames);
  }

  end(): void {
    this.#taker?.end();
  }

  fail(error: unknown): void {
    this.#taker?.fail(error);
  }

  cancel(): void {
    this.#stream.cancel();
  }
}
