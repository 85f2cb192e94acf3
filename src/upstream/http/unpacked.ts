// Decompresses bodies (RFC 9110, section 8.4). Only gzip is asked for; a server may still send
// another coding.

import { Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type {
  BodyRead,
  BodyReader,
  ResponseBody,
  ResponseHeaders,
  UpstreamResponse,
} from "../upstream-response.ts";
import { HttpError } from "./http-error.ts";

const UNPACKERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** Returns the response with its decompressed body. */
export function unpacked(response: UpstreamResponse): UpstreamResponse {
  const { body, headers } = response;
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (body === null || coding === "identity" || coding === "") return response;
  return new UnpackedResponse(response, body, UNPACKERS.get(coding));
}

class UnpackedResponse implements UpstreamResponse, ResponseBody, BodyReader {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly #packed: ResponseBody;
  readonly #unpack: (() => Transform) | undefined;
  #parts: AsyncIterator<Uint8Array> | null = null;

  constructor(
    { status, headers }: UpstreamResponse,
    packed: ResponseBody,
    unpack: (() => Transform) | undefined,
  ) {
    this.status = status;
    this.headers = headers;
    this.#packed = packed;
    this.#unpack = unpack;
  }

  get body(): ResponseBody {
    return this;
  }

  getReader(): BodyReader {
    return this;
  }

  async read(): Promise<BodyRead> {
    this.#parts ??= this[Symbol.asyncIterator]();
    const { done, value } = await this.#parts.next();
    return done ? { done } : { done: false, value };
  }

  async text(): Promise<string> {
    const parts: Uint8Array[] = [];
    for await (const part of this) parts.push(part);
    return new TextDecoder().decode(Buffer.concat(parts));
  }

  async cancel(): Promise<void> {
    await this.#packed.cancel();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#unpack === undefined) {
      await this.cancel();
      throw new HttpError("EENCODING", "The response has an unknown Content-Encoding");
    }
    const unpacker = this.#unpack();
    const packed = Readable.from(this.#packed, { objectMode: false });
    packed.on("error", (error) => unpacker.destroy(error));
    packed.pipe(unpacker);
    try {
      yield* unpacker;
    } finally {
      // Destroying the stream waits for its next bytes, which may never come.
      await this.cancel();
      packed.destroy();
      unpacker.destroy();
    }
  }
}
