// Server-sent events to one client. The client's reading pulls: nothing is fetched that it would
// only pile up, so memory stays flat however slow it is.

import { OK } from "../core/errors.ts";
import { headersOf, type ResponseMeta } from "./respond.ts";

/** Where frames come from. */
export interface FrameSource<Event> {
  /** The next event, or null at the end. Asking means that the frames before were taken. */
  next(): Promise<Event | null>;
  /** An event as frames. */
  framesOf(event: Event): string;
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
export function eventStream<Event>(
  source: FrameSource<Event>,
  facts: ResponseMeta,
  onEnd: () => void,
): Response {
  let isOpen = true;
  const end = () => {
    if (isOpen) onEnd();
    isOpen = false;
  };
  // Never `type: "direct"`: such a stream is not told when the client is slower than the upstream.
  const frames = new ReadableStream<string>(
    {
      start(controller) {
        source.onCut = () => {
          if (isOpen) controller.error(new Error("The client does not read"));
          end();
        };
      },
      async pull(controller) {
        const event = await source.next();
        if (!isOpen) return;
        if (event !== null) return controller.enqueue(source.framesOf(event));
        end();
        controller.close();
      },
      cancel() {
        end();
        source.cancel();
      },
    },
    // Nothing is fetched ahead, so that a pull proves that the frames before were written.
    { highWaterMark: 0 },
  );
  const headers = headersOf(facts, "text/event-stream; charset=utf-8");
  headers["cache-control"] = "no-cache, no-transform";
  headers["x-accel-buffering"] = "no";
  return new Response(frames as ReadableStream, { status: OK, headers });
}
