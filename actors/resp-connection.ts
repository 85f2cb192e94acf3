// One connection to a Redis server: commands out, their replies in, in order. What is sent in one
// turn of the event loop leaves in one write.

import type { Socket } from "bun";
import { ReplyReader } from "./resp-reader.ts";
import type { Reply } from "./script-client.ts";

export type Part = string | Buffer;

/** The connection ended, or was never there. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";

  constructor(
    message: string,
    /** Whether the command may have run all the same. */
    readonly mayHaveRun: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

export class CommandTimeout extends Error {
  override readonly name = "CommandTimeout";
}

/** A command whose reply somebody waits for. */
export interface Pending {
  /** The tick of the clock when it was asked for. */
  readonly tick: number;
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const OUT_BYTES = 64 * 1024;
/** A buffer that grew larger than this is given back once it is empty. */
const OUT_BYTES_KEPT = 1024 * 1024;
/** Answered commands are taken off the list this many at a time. */
const ANSWERED_KEPT = 1024;

export class RespConnection {
  readonly #socket: Socket<undefined>;
  readonly #reader = new ReplyReader((reply) => this.#answer(reply));
  /** Commands without a reply, from `#next` on, the oldest first. */
  #pending: Pending[] = [];
  #next = 0;
  /** Commands whose time has run out, up to here; their replies are still to come. */
  #expired = 0;
  #out = Buffer.allocUnsafe(OUT_BYTES);
  #outStart = 0;
  #outEnd = 0;
  #isScheduled = false;
  /** The socket takes no more until it says so. */
  #isBlocked = false;
  #heardTick: number;
  #isEnded = false;

  constructor(socket: Socket<undefined>, tick: number) {
    this.#socket = socket;
    this.#heardTick = tick;
  }

  send(parts: readonly Part[], pending: Pending): void {
    if (this.#isEnded) {
      pending.reject(new ConnectionLost("The connection to Redis was lost", false));
      return;
    }
    this.#encode(parts);
    this.#pending.push(pending);
    if (this.#isScheduled || this.#isBlocked) return;
    this.#isScheduled = true;
    // After all sockets of this turn were read, so that their commands share one write.
    setImmediate(this.#flush);
  }

  /** Takes in bytes of the server. Throws a ProtocolError. */
  receive(bytes: Buffer, tick: number): void {
    this.#heardTick = tick;
    this.#reader.push(bytes);
  }

  drain(): void {
    this.#isBlocked = false;
    this.#flush();
  }

  /** Rejects what waits for more than `ticks`; hangs up if the server is silent for twice that. */
  expire(tick: number, ticks: number): void {
    this.#expired = Math.max(this.#expired, this.#next);
    for (; this.#expired < this.#pending.length; this.#expired += 1) {
      const pending = this.#pending[this.#expired];
      if (pending === undefined || tick - pending.tick <= ticks) break;
      pending.reject(new CommandTimeout("Redis did not answer in time"));
    }
    const oldest = this.#pending[this.#next];
    if (oldest === undefined) return;
    if (tick - Math.max(oldest.tick, this.#heardTick) > 2 * ticks) this.#socket.terminate();
  }

  /** Ends the connection: nobody knows which of the open commands ran. */
  end(message: string, cause?: unknown): void {
    this.#isEnded = true;
    this.#socket.terminate();
    const open = this.#pending.slice(this.#next);
    this.#pending = [];
    this.#next = 0;
    this.#expired = 0;
    this.#outStart = 0;
    this.#outEnd = 0;
    for (const pending of open) pending.reject(new ConnectionLost(message, true, cause));
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const length = this.#outEnd - this.#outStart;
    if (this.#isBlocked || length === 0) return;
    const written = this.#socket.write(this.#out, this.#outStart, length);
    // A closed socket takes nothing, and its end is told by its own event.
    this.#outStart += Math.max(0, written);
    this.#isBlocked = this.#outStart < this.#outEnd;
    if (this.#isBlocked) return;
    this.#outStart = 0;
    this.#outEnd = 0;
    if (this.#out.length > OUT_BYTES_KEPT) this.#out = Buffer.allocUnsafe(OUT_BYTES);
  };

  #answer(reply: Reply): void {
    const pending = this.#pending[this.#next];
    if (pending === undefined) throw new Error("Redis sent a reply that nobody asked for");
    this.#next += 1;
    if (this.#next >= ANSWERED_KEPT || this.#next === this.#pending.length) this.#forgetAnswered();
    if (reply instanceof Error) pending.reject(reply);
    else pending.resolve(reply);
  }

  #forgetAnswered(): void {
    this.#pending = this.#pending.slice(this.#next);
    this.#expired = Math.max(0, this.#expired - this.#next);
    this.#next = 0;
  }

  // The length of a text is taken for its number of bytes; only if that was wrong, because it was
  // no ASCII, the command is written again.
  #encode(parts: readonly Part[]): void {
    const used = this.#outEnd - this.#outStart;
    let text = `*${parts.length}\r\n`;
    let isAscii = true;
    for (const part of parts) {
      text += `$${part.length}\r\n`;
      if (typeof part === "string") {
        text += part;
      } else {
        isAscii = this.#writeText(text) && isAscii;
        this.#writeBytes(part);
        text = "";
      }
      text += "\r\n";
    }
    if (this.#writeText(text) && isAscii) return;
    this.#outEnd = this.#outStart + used;
    this.#encode(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  }

  /** False if the text was no ASCII. */
  #writeText(text: string): boolean {
    // No UTF-16 unit takes more than three bytes of UTF-8.
    this.#reserve(text.length * 3);
    const written = this.#out.write(text, this.#outEnd);
    this.#outEnd += written;
    return written === text.length;
  }

  #writeBytes(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#out.set(bytes, this.#outEnd);
    this.#outEnd += bytes.length;
  }

  #reserve(length: number): void {
    if (this.#outEnd + length <= this.#out.length) return;
    const used = this.#outEnd - this.#outStart;
    let size = this.#out.length;
    while (used + length > size) size *= 2;
    const grown = Buffer.allocUnsafe(size);
    this.#out.copy(grown, 0, this.#outStart, this.#outEnd);
    this.#out = grown;
    this.#outStart = 0;
    this.#outEnd = used;
  }
}
