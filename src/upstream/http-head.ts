// Reads the head of an HTTP/1.1 response (RFC 9112, sections 4 and 5).

import { malformed } from "./http-error.ts";
import type { ResponseHeaders } from "./upstream-response.ts";

/** A longer head is refused. */
export const HEAD_BYTES_MAX = 64 * 1024;

/** A connection without a request is closed after this time, before most servers close it. */
const KEPT_MS = 55_000;
/** How much earlier than a server says, because a request takes time to get there. */
const MARGIN_MS = 1_000;

const STATUS_LINE = /^HTTP\/1\.(\d) ([1-9]\d\d)(?: |$)/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Characters at which others may see the end of a value. */
const FORBIDDEN = /[\r\0]/;
const LF = 10;
const CR = 13;
const NOT_FOUND = -1;

export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderTable;
  /** For how long the server takes another request on the connection; 0 if it takes none. */
  readonly keepMs: number;
}

/** Headers by their names in lower case. */
export class HeaderTable implements ResponseHeaders {
  readonly #values = new Map<string, string>();

  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  add(name: string, value: string): void {
    const before = this.#values.get(name);
    this.#values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
}

/**
 * Where the head ends and what follows begins, with lines that end in CRLF, or in LF alone as some
 * servers write them; -1 if the end has not come yet. The first `seen` bytes had no end by
 * themselves.
 */
export function endOfHead(bytes: Buffer, seen = 0): number {
  // The first line break of an end like LF CR LF may be among them.
  for (
    let at = bytes.indexOf(LF, Math.max(0, seen - 2));
    at !== NOT_FOUND;
    at = bytes.indexOf(LF, at + 1)
  ) {
    const next = bytes[at + 1] === CR ? at + 2 : at + 1;
    if (bytes[next] === LF) return next + 1;
  }
  return NOT_FOUND;
}

/** Parses a head, its empty last line included. Throws an HttpError. */
export function parseHead(text: string): ResponseHead {
  const statusEnd = text.indexOf("\n");
  const match = STATUS_LINE.exec(trimLine(text, 0, statusEnd));
  if (match === null) throw malformed("The response has no status line of HTTP/1.1");
  const headers = new HeaderTable();
  for (let start = statusEnd + 1; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const line = trimLine(text, start, end);
    start = end + 1;
    if (line !== "") addLine(headers, line);
  }
  const keepMs = keepMsOf(headers, match[1] === "0");
  return { status: Number(match[2]), headers, keepMs };
}

function keepMsOf(headers: HeaderTable, isOld: boolean): number {
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  if (lists(connection, "close")) return 0;
  // HTTP/1.0 has no chunks, so whoever sends them there may be mistaken about their end.
  if (isOld && (!lists(connection, "keep-alive") || headers.has("transfer-encoding"))) return 0;
  const seconds = /\btimeout=(\d{1,6})/i.exec(headers.get("keep-alive") ?? "")?.[1];
  if (seconds === undefined) return KEPT_MS;
  return Math.min(KEPT_MS, Math.max(0, Number(seconds) * 1_000 - MARGIN_MS));
}

/** Whether a header's list has this item. */
function lists(value: string, item: string): boolean {
  return value !== "" && value.split(",").some((one) => one.trim() === item);
}

function trimLine(text: string, start: number, end: number): string {
  return text.slice(start, text[end - 1] === "\r" ? end - 1 : end);
}

function addLine(headers: HeaderTable, line: string): void {
  const colon = line.indexOf(":");
  const name = line.slice(0, colon);
  // A line that continues the one before it (obsolete since RFC 7230) has no name either.
  if (colon === NOT_FOUND || !TOKEN.test(name) || FORBIDDEN.test(line)) {
    throw malformed("The response has a broken header");
  }
  headers.add(name.toLowerCase(), line.slice(colon + 1).trim());
}
