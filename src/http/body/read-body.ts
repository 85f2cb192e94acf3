// Reads a JSON body by our own rules: bounded in size, time, depth and keys, and strict about
// UTF-8.

import type { Clock } from "../../core/clock.ts";
import type { Deadline, Expiring } from "../../core/deadlines.ts";
import { ApiError } from "../../core/errors.ts";
import type { BodyShare } from "./body-shares.ts";

/**
 * A client must send its body within this time, or at this rate: 4 Mbit a second. A body without a
 * declared length has the time of its bytes that arrived, so that silence ends after 10 seconds.
 */
const BODY_MS_MAX = 10_000;
const BYTES_A_MS = 512;
/** A body that takes longer is slow. */
const PROMPT_MS = 500;

/** A larger body is not decoded in the thread that serves requests. */
const TEXT_BYTES_MAX = 256 * 1024;

export interface BodyRules {
  readonly bytesMax: number;
  readonly clock: Clock;
  /**
   * The declared length; null if none is declared. Without this option the length is read from the
   * headers.
   */
  readonly declared?: number | null;
  /** The sender's share of memory; without it, only this body is bounded. */
  readonly share?: BodyShare;
  /** True if a large body may be returned as bytes. */
  readonly keepsBytes?: boolean;
  /** Called when the body is slow. If the check rejects, the body is refused with that error. */
  readonly onSlow?: () => Promise<void>;
}

/** The length that the headers declare; null if they declare no length. */
export function declaredLength({ headers }: Request): number | null {
  const declared = headers.get("content-length");
  return declared === null ? null : Number(declared);
}

// Can be shared: decoding a whole text at once keeps no state.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The body did not come in time. Bun reads any other refused body and discards it (D-512). */
export class LateBody extends ApiError {
  constructor(msMax: number) {
    const seconds = Math.round(msMax / 1_000);
    super("invalid_json", `The body did not arrive within ${seconds} seconds`);
  }
}

/** The time for so many bytes. */
function msMaxOf(bytes: number): number {
  return Math.max(BODY_MS_MAX, bytes / BYTES_A_MS);
}

/**
 * Returns the text of a body. Throws `body_too_large`, `invalid_json`, or `rate_limit_exceeded` if
 * the sender has too many bytes in memory.
 */
export async function readText(request: Request, rules: BodyRules): Promise<string> {
  const body = await readBody(request, rules);
  return typeof body === "string" ? body : decode(body);
}

/** Reads a body that may be parsed in another thread: a large body is returned as bytes. */
export function readBody(request: Request, rules: BodyRules): Promise<string | Uint8Array> {
  return new Promise((resolve, reject) => {
    new Reading(rules, resolve, reject).begin(request);
  });
}

/** A body that is being read. A class, because every request has one: closures would take more. */
class Reading implements Expiring {
  readonly #rules: BodyRules;
  readonly #resolve: (body: string | Uint8Array) => void;
  readonly #reject: (error: ApiError) => void;
  #deadline: Deadline;
  /** The promise of `onSlow`; null as long as the body is not slow. */
  #slow: Promise<void> | null = null;
  /** The bytes of the body: as declared, or those that have arrived. */
  #bytes = 0;
  /** The time that the body has until its deadline. */
  #msMax = PROMPT_MS;

  constructor(
    rules: BodyRules,
    resolve: (body: string | Uint8Array) => void,
    reject: (error: ApiError) => void,
  ) {
    this.#rules = rules;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#deadline = rules.clock.deadline(PROMPT_MS, this);
  }

  expire(): void {
    const more = msMaxOf(this.#bytes) - this.#msMax;
    if (more <= 0) {
      this.#fail(new LateBody(this.#msMax));
      return;
    }
    const rules = this.#rules;
    this.#slow ??= this.#beginSlow();
    this.#msMax += more;
    this.#deadline = rules.clock.deadline(more, this);
  }

  #beginSlow(): Promise<void> {
    const slow = this.#rules.onSlow?.() ?? Promise.resolve();
    slow.catch((error) => this.#fail(error));
    return slow;
  }

  begin(request: Request): void {
    try {
      this.#readBytes(request).then(
        (bytes) => this.#receive(bytes),
        (error) => this.#fail(error),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Begins to read. Throws at once a refusal that follows from the headers. */
  #readBytes(request: Request): Promise<Uint8Array> {
    const { declared = declaredLength(request), bytesMax, share } = this.#rules;
    if (declared !== null && declared > bytesMax) throw bodyTooLarge(bytesMax);
    const encoding = request.headers.get("content-encoding");
    if (encoding !== null && encoding.trim().toLowerCase() !== "identity") {
      throw new ApiError("invalid_json", "The body must not be compressed: drop Content-Encoding");
    }
    if (declared === null) return this.#readStream(request);
    this.#bytes = declared;
    share?.take(declared);
    return request.bytes();
  }

  /** Reads a body without a declared length piece by piece, to stop at the limit. */
  async #readStream({ body }: Request): Promise<Uint8Array> {
    if (body === null) return new Uint8Array();
    const { bytesMax, share } = this.#rules;
    const pieces: Uint8Array[] = [];
    for await (const piece of body) {
      this.#bytes += piece.byteLength;
      if (this.#bytes > bytesMax) throw bodyTooLarge(bytesMax);
      share?.take(piece.byteLength);
      pieces.push(piece);
    }
    return Buffer.concat(pieces, this.#bytes);
  }

  #receive(bytes: Uint8Array): void {
    if (this.#slow === null) this.#complete(bytes);
    else
      void this.#slow.then(
        () => this.#complete(bytes),
        () => {},
      );
  }

  #complete(bytes: Uint8Array): void {
    try {
      const isKept = this.#rules.keepsBytes === true && bytes.byteLength > TEXT_BYTES_MAX;
      this.#resolve(isKept ? bytes : decode(bytes));
      // A body that is kept in bytes stays in the sender's share until it is parsed.
      if (isKept) this.#deadline.end();
      else this.#end();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const message = "The body did not arrive whole";
    const refusal = error instanceof ApiError ? error : new ApiError("invalid_json", message);
    this.#end();
    // `onSlow` counts the request, and may refuse it: then its refusal is the answer.
    if (this.#slow === null) this.#reject(refusal);
    else this.#slow.then(() => this.#reject(refusal), this.#reject);
  }

  #end(): void {
    this.#deadline.end();
    this.#rules.share?.end();
  }
}

/** Parses a text whose shape was checked. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("invalid_json", "The body is not valid JSON");
  }
}

/** Decodes the text of a body. Throws `invalid_json`. */
export function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ApiError("invalid_json", "The body is not valid UTF-8");
  }
}

/**
 * The refusal of a body; `of` names the part of the body that is too large, if there are several.
 */
export function bodyTooLarge(bytesMax: number, of = ""): ApiError {
  const message = `The body${of} must not be larger than ${bytesMax} bytes`;
  return new ApiError("body_too_large", message);
}
