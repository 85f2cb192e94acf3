// Server-sent events to one client. The client's reading pulls: nothing is fetched that it would
// only pile up, so memory stays flat however slow it is.

import { OK } from "../core/errors.ts";
import { headersOf, type ResponseMeta } from "./respond.ts";

/** Takes the frames of a source. Each `pull` is answered by exactly one of these, maybe at once. */
export interface FrameTaker {
  /** One or more whole frames. */
  onFrames(frames: string): void;
  /** Nothing comes any more. */
  onEnd(): void;
  /** The source cannot say how it ended: the connection is broken off. */
  onFault(error: unknown): void;
}

/** Where frames come from. */
export interface FrameSource {
  /** Asks for the next frames. Asking means that the frames before were taken. */
  pull(taker: FrameTaker): void;
  /** The client is gone. */
  cancel(): void;
  /** Set here: breaks the connection off without an end. */
  onCut: () => void;
}

/** One event with `json` as its data. */
export function dataFrame(json: string): string {
  return `data: ${json}\n\n`;
}

export const DONE_FRAME = dataFrame("[DONE]");

/** Streams the frames of a source. `onEnd` is called once: at the end, or when it broke off. */
export function eventStream(source: FrameSource, facts: ResponseMeta, onEnd: () => void): Response {
  const frames = new ReadableStream<string>(
    new EventStream(source, onEnd),
    // Nothing is fetched ahead, so that a pull proves that the frames before were written.
    { highWaterMark: 0 },
  );
  const headers = headersOf(facts, "text/event-stream; charset=utf-8");
  headers["cache-control"] = "no-cache, no-transform";
  headers["x-accel-buffering"] = "no";
  return new Response(frames as ReadableStream, { status: OK, headers });
}

// Never `type: "direct"`: such a stream is not told when the client is slower than the upstream.
class EventStream implements FrameTaker {
  readonly #source: FrameSource;
  readonly #onEnd: () => void;
  #controller: ReadableStreamDefaultController<string> | null = null;
  #isOpen = true;

  constructor(source: FrameSource, onEnd: () => void) {
    this.#source = source;
    this.#onEnd = onEnd;
  }

  start(controller: ReadableStreamDefaultController<string>): void {
    this.#controller = controller;
    this.#source.onCut = () => this.onFault(new Error("The client does not read"));
  }

  /** Returns before the frames are there: a reader that waits gets them when they come. */
  pull(): void {
    this.#source.pull(this);
  }

  cancel(): void {
    this.#end();
    this.#source.cancel();
  }

  onFrames(frames: string): void {
    if (this.#isOpen) this.#controller?.enqueue(frames);
  }

  onEnd(): void {
    if (!this.#isOpen) return;
    this.#end();
    this.#controller?.close();
  }

  onFault(error: unknown): void {
    if (this.#isOpen) this.#controller?.error(error);
    this.#end();
  }

  #end(): void {
    if (this.#isOpen) this.#onEnd();
    this.#isOpen = false;
  }
}
