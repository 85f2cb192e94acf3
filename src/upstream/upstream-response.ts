// What a request to an upstream server gives back. `Response` of the platform fits it too.

export interface ResponseHeaders {
  /** The value of a header by its name in lower case; values of one name are joined by commas. */
  get(name: string): string | null;
  has(name: string): boolean;
}

export type BodyRead =
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly done: true; readonly value?: undefined };

/** Receives what a reader reads. Each `pull` leads to exactly one of these calls. */
export interface BodyTaker {
  /** The next bytes are those from `from` to `to`. This may be called before `pull` returns. */
  onBytes(bytes: Buffer, from: number, to: number): void;
  /** The body is complete. */
  onBodyEnd(): void;
  /** Never called within what ends the request. */
  onBodyFailure(reason: unknown): void;
}

export interface BodyReader {
  /** The next bytes. Wait for them before the next call. */
  read(): Promise<BodyRead>;
  /** The same without a promise, which would cost a tenth of what is done with a few bytes. */
  pull?(taker: BodyTaker): void;
}

/** Requests the next bytes of any reader. */
export function pullBytes(reader: BodyReader, taker: BodyTaker): void {
  if (reader.pull !== undefined) {
    reader.pull(taker);
    return;
  }
  reader.read().then(
    ({ done, value }) => {
      if (done) taker.onBodyEnd();
      else
        taker.onBytes(Buffer.from(value.buffer, value.byteOffset, value.length), 0, value.length);
    },
    (reason) => taker.onBodyFailure(reason),
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
