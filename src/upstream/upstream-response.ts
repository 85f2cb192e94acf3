// What a request to an upstream server gives back. `Response` of the platform fits it too.

export interface ResponseHeaders {
  /** The value of a header by its name in lower case; values of one name are joined by commas. */
  get(name: string): string | null;
  has(name: string): boolean;
}

export type BodyRead =
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly done: true; readonly value?: undefined };

export interface BodyReader {
  /** The next bytes. Wait for them before the next call. */
  read(): Promise<BodyRead>;
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
