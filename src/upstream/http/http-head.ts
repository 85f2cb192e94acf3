// Reads the head of an HTTP/1.1 response (RFC 9112, sections 4 and 5).

import type { ResponseHeaders } from "../upstream-response.ts";
import { malformed } from "./http-error.ts";

/** A longer head is refused. */
export const HEAD_BYTES_MAX = 64 * 1024;

/** A connection without a request is closed after this time, before most servers close it. */
const KEPT_MS = 55_000;
/** The margin below the server's own time, because a request takes time to get there. */
const MARGIN_MS = 1_000;

const STATUS_LINE = /HTTP\/1\.\d [1-9]\d\d(?: [^\r\n\0]*)?\r?\n/y;
/** The positions of the parts of a status line. */
const MINOR_VERSION_AT = 7;
export const STATUS = { start: 9, end: 12 };
/** Headers and an empty line. A line that continues another one (obsolete) has no name. */
const HEADERS = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\r\n\0]*\r?\n)*\r?\n$/y;
const LF = 10;
const CR = 13;
const NOT_FOUND = -1;
/** The ends of the last two lines of a head; the empty line ends in CRLF, or in LF alone. */
const EMPTY_LINE = Buffer.from("\n\r\n");
const BARE_EMPTY_LINE = Buffer.from("\n\n");
/** The headers that most responses are searched for. Most responses have three of them. */
const USUAL_NAMES = [
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "content-encoding",
  "content-type",
];
const USUAL: ReadonlySet<string> = new Set(USUAL_NAMES);
const USUAL_LINES = linesOf(USUAL_NAMES);

/** Matches the beginnings of these header lines, in letters of either case. */
function linesOf(names: readonly string[]): RegExp {
  return new RegExp(`\\n(${names.map((name) => RegExp.escape(name)).join("|")}):`, "gi");
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderTable;
  /** The server takes another request on the connection for this time; 0 if it takes none. */
  readonly keepMs: number;
}

/** Finds the usual headers in one pass, and others when they are asked for: most never are. */
export class HeaderTable implements ResponseHeaders {
  readonly #head: string;
  readonly #usual: ReadonlyMap<string, string>;

  constructor(head: string) {
    this.#head = head;
    this.#usual = valuesIn(head, USUAL_LINES);
  }

  get(name: string): string | null {
    const values = USUAL.has(name) ? this.#usual : valuesIn(this.#head, linesOf([name]));
    return values.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }
}

/** The values of the header lines with these beginnings, by their names in lower case. */
function valuesIn(head: string, lines: RegExp): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (let line = lines.exec(head); line !== null; line = lines.exec(head)) {
    const name = line[1]?.toLowerCase() ?? "";
    const start = lines.lastIndex;
    const value = head.slice(start, head.indexOf("\n", start)).trim();
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return values;
}

/**
 * Returns the index after the end of the head; -1 if the end has not come yet. Lines end in CRLF,
 * or in LF alone as some servers write them. The first `seen` bytes alone had no end.
 */
export function endOfHead(bytes: Buffer, seen = 0): number {
  // The first line break of an end like LF CR LF may be among the bytes already seen.
  const from = Math.max(0, seen - 2);
  const end = bytes.indexOf(EMPTY_LINE, from);
  const isFirst = end !== NOT_FOUND && bytes.lastIndexOf(BARE_EMPTY_LINE, end) < from;
  return isFirst ? end + EMPTY_LINE.length : endOfAnyHead(bytes, from);
}

/** Looks at each line break, for servers that end lines in LF alone. */
function endOfAnyHead(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LF, from); at !== NOT_FOUND; at = bytes.indexOf(LF, at + 1)) {
    const next = bytes[at + 1] === CR ? at + 2 : at + 1;
    if (bytes[next] === LF) return next + 1;
  }
  return NOT_FOUND;
}

/** Parses a head, its empty last line included. Throws an HttpError. */
export function parseHead(text: string): ResponseHead {
  STATUS_LINE.lastIndex = 0;
  if (!STATUS_LINE.test(text)) throw malformed("The response has no status line of HTTP/1.1");
  HEADERS.lastIndex = STATUS_LINE.lastIndex;
  if (!HEADERS.test(text)) throw malformed("The response has a broken header");
  const headers = new HeaderTable(text);
  const keepMs = keepMsOf(headers, text[MINOR_VERSION_AT] === "0");
  return { status: Number(text.slice(STATUS.start, STATUS.end)), headers, keepMs };
}

function keepMsOf(headers: HeaderTable, isOld: boolean): number {
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  if (lists(connection, "close")) return 0;
  // HTTP/1.0 has no chunks, so a server that sends them there may be mistaken about their end.
  if (isOld && (!lists(connection, "keep-alive") || headers.has("transfer-encoding"))) return 0;
  const seconds = /\btimeout=(\d{1,6})/i.exec(headers.get("keep-alive") ?? "")?.[1];
  if (seconds === undefined) return KEPT_MS;
  return Math.min(KEPT_MS, Math.max(0, Number(seconds) * 1_000 - MARGIN_MS));
}

/** True if a header's list has this item. */
function lists(value: string, item: string): boolean {
  return value !== "" && value.split(",").some((one) => one.trim() === item);
}
