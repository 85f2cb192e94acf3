// Defines the response of an upstream server. The platform's `Response` fits these interfaces too.

import type { Taker } from "../core/taker.ts";

export interface ResponseHeaders {
  /** The value of a header by its name in lower case; values of one name are joined by commas. */
  get(name: string): string | null;
  has(name: string): boolean;
}

export type BodyRead =
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly done: true; readonly value?: undefined };

/**
 * Receives the bytes of a body: those between `from` and `to`. `end`: the body is complete. `fail`
 * is never called by code that ends the request.
 */
export type BytesTaker = Taker<Buffer, [from: number, to: number]>;

export interface BodyReader {
  /** Reads the next bytes. Wait for the bytes before the next call. */
  read(): Promise<BodyRead>;
  /**
   * Reads the next bytes without a promise, which would cost a tenth of the work for a few bytes.
   */
  pull?(taker: BytesTaker): void;
}

/** Requests the next bytes of any reader. */
export function pullBytes(reader: BodyReader, taker: BytesTaker): void {
  if (reader.pull !== undefined) {
    reader.pull(taker);
    return;
  }
  reader.read().then(
    ({ done, value }) => {
      if (done) taker.end();
      else taker.take(Buffer.from(value.buffer, value.byteOffset, value.length), 0, value.length);
    },
    (reason) => taker.fail(reason),
  );
}

export interface ResponseBody extends AsyncIterable<Uint8Array> {
  getReader(): BodyReader;
  /** Gives up the rest of the body. */
  cancel(): Promise<void>;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: ResponseBody | null;
  /** The whole body as UTF-8. */
  text(): Promise<string>;
}
