// Answers of charged calls, kept for some minutes in the memory of this process, for repeats with
// the same idempotency key. Each is sealed by secrets of its request, which are not kept: only the
// same caller, with the same request, can open it (D-754).

import { IDEMPOTENCY } from "../core/access/limits.ts";
import type { Clock } from "../core/clock.ts";
import type { Deadline, Expiring } from "../core/deadlines.ts";
import type { RandomBytes } from "../core/ids.ts";
import { keyFrom, openBytes, sealBytes } from "../core/sealed.ts";

/** The memory of an entry besides its sealed bytes. */
const ENTRY_BYTES = 500;

/** A request with an idempotency key. */
export interface KeyedRequest {
  /**
   * The markers of the key by the current secret and earlier ones; the request's call claims the
   * first.
   */
  readonly markers: readonly [string, ...string[]];
  /** The texts that its answer is sealed by. Only a repeat of the request has all of them. */
  readonly sealedBy: readonly string[];
}

/** The body of an answer: JSON, or bytes. */
type AnswerBody = string | Uint8Array<ArrayBuffer>;

interface SealedAnswer {
  readonly name: string;
  readonly box: Buffer;
  readonly isText: boolean;
}

/** An answer until its time is over. */
class Entry implements Expiring {
  readonly #answers: KeptAnswers;
  readonly deadline: Deadline;

  constructor(
    answers: KeptAnswers,
    clock: Pick<Clock, "deadline">,
    readonly sealed: SealedAnswer,
  ) {
    this.#answers = answers;
    this.deadline = clock.deadline(IDEMPOTENCY.answerMs, this);
  }

  get bytes(): number {
    return this.sealed.box.length + ENTRY_BYTES;
  }

  expire(): void {
    this.#answers.remove(this);
  }
}

interface AnswersDeps {
  readonly clock: Pick<Clock, "deadline">;
  readonly random: RandomBytes;
  /** The most bytes of all entries. */
  readonly bytesMax?: number;
}

export class KeptAnswers {
  readonly #deps: AnswersDeps;
  readonly #bytesMax: number;
  /** By marker, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
    this.#bytesMax = deps.bytesMax ?? IDEMPOTENCY.answersBytesMax;
  }

  /** The bytes of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** Keeps an answer, unless it is too long. The oldest answers make room for it. */
  keep({ markers, sealedBy }: KeyedRequest, body: AnswerBody): void {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    if (bytes.length > IDEMPOTENCY.answerBytesMax) return;
    const [name] = markers;
    const box = sealBytes(bytes, { key: keyOf(sealedBy) }, this.#deps.random);
    const before = this.#entries.get(name);
    if (before !== undefined) this.remove(before);
    const entry = new Entry(this, this.#deps.clock, {
      name,
      box,
      isText: typeof body === "string",
    });
    this.#entries.set(name, entry);
    this.#bytes += entry.bytes;
    for (const oldest of this.#entries.values()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.remove(oldest);
    }
  }

  /** The answer to a repeat of a request; null if none is kept, or the caller has another key. */
  find({ markers, sealedBy }: KeyedRequest): AnswerBody | null {
    const sealed = this.#entries.get(markers[0])?.sealed;
    const bytes = sealed === undefined ? null : openBytes(sealed.box, { key: keyOf(sealedBy) });
    return bytes !== null && sealed?.isText === true ? bytes.toString() : bytes;
  }

  remove(entry: Entry): void {
    const { name } = entry.sealed;
    if (this.#entries.get(name) !== entry) return;
    this.#entries.delete(name);
    this.#bytes -= entry.bytes;
    entry.deadline.end();
  }
}

function keyOf(secrets: KeyedRequest["sealedBy"]): Uint8Array {
  return keyFrom(JSON.stringify(secrets), "farebox kept answers");
}
