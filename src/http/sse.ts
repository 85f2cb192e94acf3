// Sends server-sent events to one client. Frames are fetched only when the client reads, so memory
// use stays constant even if the client is slow.

import type { Pull, Taker } from "../core/taker.ts";
import { type ResponseMeta, streamResponse } from "./respond.ts";

/**
 * A source of frames, one or more in each piece. A pull also means that the earlier frames were
 * delivered. If the source fails, the connection is cut.
 */
export interface FrameSource extends Pull<string> {
  /** The client is gone. */
  cancel(): void;
  /** Set by the stream, for the source to cut the connection without an end. */
  cutter: Cutter | null;
}

export interface Cutter {
  /** The client does not read. */
  cut(): void;
}

const LINE_END = /[\u0085\u2028\u2029]/;
const LINE_ENDS = new RegExp(LINE_END, "g");

/**
 * Returns the same JSON without the characters that end a line in Unicode. JSON need not escape
 * these characters, but many clients cut a stream there.
 */
export function onOneLine(json: string): string {
  return LINE_END.test(json) ? json.replace(LINE_ENDS, escaped) : json;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** One event with `json` as its data. */
export function dataFrame(json: string): string {
  return `data: ${onOneLine(json)}\n\n`;
}

export const DONE_FRAME = dataFrame("[DONE]");

/** A comment, which clients skip. */
export const KEEP_ALIVE_FRAME = ": thinking\n\n";

/** Streams the frames of a source. */
export function eventStream(source: FrameSource, facts: ResponseMeta): Response {
  const frames = new ReadableStream<string>(
    new EventStream(source),
    // Without a buffer, each pull proves that the earlier frames were written.
    { highWaterMark: 0 },
  );
  return streamResponse(frames, facts);
}

// Must not use `type: "direct"`: such a stream does not notice that the client is slower than the
// upstream.
class EventStream implements Taker<string>, Cutter {
  readonly #source: FrameSource;
  #controller: ReadableStreamDefaultController<string> | null = null;
  #isOpen = true;

  constructor(source: FrameSource) {
    this.#source = source;
  }

  start(controller: ReadableStreamDefaultController<string>): void {
    this.#controller = controller;
    this.#source.cutter = this;
  }

  /** Returns before the frames are there: a waiting reader gets them when they arrive. */
  pull(): void {
    this.#source.pull(this);
  }

  cancel(): void {
    this.#isOpen = false;
    this.#source.cancel();
  }

  cut(): void {
    this.fail(new Error("The client does not read"));
  }

  take(frames: string): void {
    if (this.#isOpen) this.#controller?.enqueue(frames);
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#controller?.close();
  }

  fail(error: unknown): void {
    if (this.#isOpen) this.#controller?.error(error);
    this.#isOpen = false;
  }
}
