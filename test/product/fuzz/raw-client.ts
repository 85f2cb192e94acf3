// Sends bytes over a separate connection, and reads one answer of HTTP/1.1.

import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Without the framing of chunks. */
  readonly body: Buffer;
  /** False if the connection ended before the answer did. */
  readonly isWhole: boolean;
}

/** The statuses of Bun's own refusals, without a body; 505 for the bytes after a short length. */
const NO_HTTP: ReadonlySet<number> = new Set([400, 413, 431, 505]);

/** True if the server refused bytes that are not HTTP. */
export function isNoHttp(
  { isHttp }: { readonly isHttp: boolean },
  { status, headers, body }: RawAnswer,
): boolean {
  const isOurs = headers.has("x-request-id") || body.length > 0;
  return !isHttp && !isOurs && NO_HTTP.has(status);
}

export interface SendOptions {
  readonly port: number;
  /** An answer to this method has no body. */
  readonly method: string;
  /** Ends its own side after the bytes. */
  readonly ends: boolean;
  readonly hangUpMs: number | null;
  readonly timeoutMs: number;
}

/** Returns the answer; null if the connection ended without one. Rejects if none comes in time. */
export function sendRaw(bytes: Uint8Array, options: SendOptions): Promise<RawAnswer | null> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer | null>();
  const socket = connect({ port: options.port, host: "127.0.0.1", noDelay: true });
  const pieces: Buffer[] = [];
  const timers: Timer[] = [];
  const finish = (isClosed: boolean) => {
    for (const timer of timers) clearTimeout(timer);
    socket.destroy();
    const answer = readAnswer(Buffer.concat(pieces), options.method);
    // Without a length, an answer continues until the connection ends.
    resolve(answer && { ...answer, isWhole: answer.isWhole || (isClosed && !hasLength(answer)) });
  };
  timers.push(
    setTimeout(() => {
      const came = Buffer.concat(pieces).toString("latin1").slice(0, 500);
      reject(new Error(`No whole answer within ${options.timeoutMs} ms, only '${came}'`));
      socket.destroy();
    }, options.timeoutMs),
  );
  socket.on("connect", () => {
    if (options.ends) socket.end(bytes);
    else socket.write(bytes);
    if (options.hangUpMs !== null) timers.push(setTimeout(() => finish(false), options.hangUpMs));
  });
  socket.on("data", (piece: Buffer) => {
    pieces.push(piece);
    if (readAnswer(Buffer.concat(pieces), options.method)?.isWhole) finish(false);
  });
  socket.on("close", () => finish(true));
  socket.on("error", () => finish(true));
  return promise;
}

function hasLength({ headers }: RawAnswer): boolean {
  return headers.has("content-length") || headers.has("transfer-encoding");
}

function readAnswer(bytes: Buffer, method: string): RawAnswer | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const [first = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
  const rest = bytes.subarray(headEnd + 4);
  if (status < 200) return readAnswer(rest, method);
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const head = { status, headers };
  if (method === "HEAD" || status === 204 || status === 304) {
    return { ...head, body: Buffer.alloc(0), isWhole: true };
  }
  if (headers.get("transfer-encoding") === "chunked") return { ...head, ...unchunked(rest) };
  const length = Number(headers.get("content-length") ?? Number.NaN);
  return { ...head, body: rest.subarray(0, length || 0), isWhole: rest.length >= length };
}

function unchunked(bytes: Buffer): Pick<RawAnswer, "body" | "isWhole"> {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return { body: Buffer.concat(pieces), isWhole: false };
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (length === 0) return { body: Buffer.concat(pieces), isWhole: true };
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}
