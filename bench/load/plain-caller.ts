// Sends the load generator's calls that are not streamed. The caller writes HTTP by hand, which
// takes a quarter less CPU than the client of the product: the generator shares the processors with
// the measured program.

import type { Socket } from "bun";

export interface PlainAnswer {
  readonly status: number;
  /** The charge of the call in the answer; null if the answer has none. */
  readonly costUsd: string | null;
  readonly body: string;
}

const HEAD_END = "\r\n\r\n";
const NOTHING = Buffer.alloc(0);

/** The bytes of a request. */
export function requestBytes(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
): Buffer {
  const lines = Object.entries({
    host: url.host,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

const DIGITS = 12;
/** Numbers of this process do not return in another one. */
const FIRST_NUMBER = `${Date.now()}-${process.pid}-`;
let numbers = 0;

/** A request with a header whose value is another one each time. */
export class NumberedRequest {
  readonly #bytes: Buffer;
  readonly #digitsAt: number;

  constructor(
    url: URL,
    {
      headers,
      body,
      numbered,
    }: {
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly numbered: string;
    },
  ) {
    const value = FIRST_NUMBER + "0".repeat(DIGITS);
    this.#bytes = requestBytes(url, { ...headers, [numbered]: value }, body);
    this.#digitsAt = this.#bytes.indexOf(value) + FIRST_NUMBER.length;
  }

  /** The bytes, which the following call changes: they must be sent before it. */
  next(): Buffer {
    numbers += 1;
    this.#bytes.write(String(numbers).padStart(DIGITS, "0"), this.#digitsAt, "latin1");
    return this.#bytes;
  }
}

/** Makes one call at a time. */
export class PlainCaller {
  readonly #url: URL;
  #socket: Socket<undefined> | null = null;
  #received: Buffer = NOTHING;
  #waiting: PromiseWithResolvers<PlainAnswer> | null = null;

  constructor(url: URL) {
    this.#url = url;
  }

  /** Rejects if the connection ends before the answer. */
  async call(request: Buffer): Promise<PlainAnswer> {
    this.#socket ??= await this.#connect();
    this.#waiting = Promise.withResolvers<PlainAnswer>();
    const { promise } = this.#waiting;
    const sent = this.#socket.write(request);
    if (sent !== request.length) this.#end(new Error(`Only ${sent} bytes of a request were sent`));
    return await promise;
  }

  #connect(): Promise<Socket<undefined>> {
    return Bun.connect<undefined>({
      hostname: this.#url.hostname,
      port: Number(this.#url.port),
      socket: {
        data: (_socket, bytes) => this.#receive(bytes),
        close: () => this.#end(new Error("The connection was closed")),
        error: (_socket, error) => this.#end(error),
      },
    });
  }

  #receive(bytes: Buffer): void {
    const all = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    const answer = readAnswer(all);
    this.#received = answer === null ? Buffer.from(all) : NOTHING;
    if (answer === null) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(answer);
  }

  #end(error: Error): void {
    this.#socket?.terminate();
    this.#socket = null;
    this.#received = NOTHING;
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

/** Returns the answer in these bytes; null if more must come. */
export function readAnswer(bytes: Buffer): PlainAnswer | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const head = bytes.toString("latin1", 0, headEnd);
  const start = headEnd + HEAD_END.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) return readChunks(bytes, head, start);
  const end = start + Number(length);
  return bytes.length < end ? null : answerOf(head, bytes.toString("utf8", start, end));
}

/** Reads an answer whose body comes in pieces. */
function readChunks(bytes: Buffer, head: string, start: number): PlainAnswer | null {
  let body = "";
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const next = lineEnd + 2 + length + 2;
    if (Number.isNaN(length)) throw new Error(`The answer has no length: ${head}`);
    if (bytes.length < next) return null;
    if (length === 0) return answerOf(head, body);
    body += bytes.toString("utf8", lineEnd + 2, next - 2);
    at = next;
  }
}

function answerOf(head: string, body: string): PlainAnswer {
  const costUsd = /\r\nx-svc-cost-usd: *([\d.]+)/i.exec(head)?.[1] ?? null;
  return { status: Number(head.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length)), costUsd, body };
}
