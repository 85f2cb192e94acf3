// Turns the events of a streamed call into frames. Each door writes its own.

import type { Taker } from "../../../core/taker.ts";
import type { Cutter, FrameSource } from "../../../http/sse.ts";
import type { ChatStream } from "../chat-stream.ts";
import type { StreamEvent } from "../stream-event.ts";

/** The frames of one stream. A pull also means that the client has the earlier frames. */
export abstract class StreamFrames implements FrameSource, Taker<StreamEvent> {
  readonly #stream: ChatStream;
  #taker: Taker<string> | null = null;

  constructor(stream: ChatStream) {
    this.#stream = stream;
  }

  /** The frames of an event; empty if the client gets nothing of it. */
  protected abstract framesOf(event: StreamEvent): string;

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

  take(event: StreamEvent): void {
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
