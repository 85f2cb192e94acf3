// One connection to a Redis server: sends commands, and matches replies to them in order. Commands
// of one turn of the event loop go out in one write.

import type { Socket } from "bun";
import { isOfReplica } from "../../src/core/redis-replica.ts";
import { FixedParts } from "./fixed-parts.ts";
import { ReplyReader } from "./resp-reader.ts";
import type { Reply, ReplyReceiver } from "./script-client.ts";

export type Part = string | Buffer | FixedParts;

/** The connection ended, or there was none. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";

  constructor(
    message: string,
    /** True if Redis may have run the command. */
    readonly mayHaveRun: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

export class CommandTimeout extends Error {
  override readonly name = "CommandTimeout";
}

const OUT_BYTES = 64 * 1024;
/** A larger buffer is replaced by a small one once it is empty. */
export const OUT_BYTES_KEPT = 1024 * 1024;
/** Commands with replies are removed from the list this many at a time. */
const ANSWERED_KEPT = 1024;
/** Room for the head of a part: a sign, a length, and two line ends. */
const HEAD_BYTES_MAX = 24;
const [ASTERISK, DOLLAR, ZERO, CR, LF] = [0x2a, 0x24, 0x30, 0x0d, 0x0a];

export class RespConnection {
  readonly #socket: Socket<undefined>;
  readonly #reader = new ReplyReader((reply) => this.#answer(reply));
  /** Commands without a reply, oldest first, from index `#next` on. */
  #pending: (ReplyReceiver | null)[] = [];
  /** The ticks of the clock at which the open commands were given. */
  #ticks: number[] = [];
  #next = 0;
  /** Commands before this index have timed out; their replies are still to come. */
  #expired = 0;
  #out = Buffer.allocUnsafe(OUT_BYTES);
  #outStart = 0;
  #outEnd = 0;
  #isScheduled = false;
  /** True while the socket accepts no more data. */
  #isBlocked = false;
  #heardTick: number;
  #isEnded = false;

  constructor(socket: Socket<undefined>, tick: number) {
    this.#socket = socket;
    this.#heardTick = tick;
  }

  /** Sends a command that was given at this tick of the clock. */
  send(parts: readonly Part[], tick: number, receiver: ReplyReceiver): void {
    if (this.#isEnded) {
      receiver.reject(new ConnectionLost("The connection to Redis was lost", false));
      return;
    }
    this.#encode(parts);
    this.#pending.push(receiver);
    this.#ticks.push(tick);
    if (this.#isScheduled || this.#isBlocked) return;
    this.#isScheduled = true;
    // Runs after all sockets of this turn were read, so their commands share one write.
    setImmediate(this.#flush);
  }

  /**
   * Handles bytes from the server. Throws a ProtocolError, or the error of a replica that was asked
   * to write.
   */
  receive(bytes: Buffer, tick: number): void {
    this.#heardTick = tick;
    this.#reader.push(bytes);
  }

  drain(): void {
    this.#isBlocked = false;
    this.#flush();
  }

  /**
   * Rejects commands that waited for more than `ticks`; closes the connection if the server was
   * silent for twice that time.
   */
  expire(tick: number, ticks: number): void {
    this.#expired = Math.max(this.#expired, this.#next);
    while (tick - (this.#ticks[this.#expired] ?? tick) > ticks) {
      const receiver = this.#pending[this.#expired];
      // The reply of this command is still to come, and no caller waits for it any longer.
      this.#pending[this.#expired] = null;
      this.#expired += 1;
      receiver?.reject(new CommandTimeout("Redis did not answer in time"));
    }
    const oldest = this.#ticks[this.#next];
    if (oldest === undefined) return;
    if (tick - Math.max(oldest, this.#heardTick) > 2 * ticks) this.#socket.terminate();
  }

  /** Ends the connection. Nobody knows which of the open commands ran. */
  end(message: string, cause?: unknown): void {
    this.#isEnded = true;
    this.#socket.terminate();
    const open = this.#pending.slice(this.#next);
    this.#pending = [];
    this.#ticks = [];
    this.#next = 0;
    this.#expired = 0;
    this.#outStart = 0;
    this.#outEnd = 0;
    for (const receiver of open) receiver?.reject(new ConnectionLost(message, true, cause));
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const length = this.#outEnd - this.#outStart;
    if (this.#isBlocked || length === 0) return;
    const written = this.#socket.write(this.#out, this.#outStart, length);
    // A closed socket takes no bytes; its close event rejects the commands.
    this.#outStart += Math.max(0, written);
    this.#isBlocked = this.#outStart < this.#outEnd;
    if (this.#isBlocked) return;
    this.#outStart = 0;
    this.#outEnd = 0;
    if (this.#out.length > OUT_BYTES_KEPT) this.#out = Buffer.allocUnsafe(OUT_BYTES);
  };

  #answer(reply: Reply): void {
    const receiver = this.#pending[this.#next];
    if (receiver === undefined) throw new Error("Redis sent a reply that nobody asked for");
    this.#next += 1;
    if (this.#next >= ANSWERED_KEPT || this.#next === this.#pending.length) this.#forgetAnswered();
    if (reply instanceof Error) {
      receiver?.reject(reply);
      // The caller that catches this error ends the connection, because the address may lead to
      // another server by now (D-432).
      if (isOfReplica(reply)) throw reply;
    } else {
      receiver?.resolve(reply);
    }
  }

  #forgetAnswered(): void {
    this.#pending = this.#pending.slice(this.#next);
    this.#ticks = this.#ticks.slice(this.#next);
    this.#expired = Math.max(0, this.#expired - this.#next);
    this.#next = 0;
  }

  // Writes each part at its place in the buffer: one text of all parts would be another copy.
  // Assumes that a text has as many bytes as characters. For a text that is not ASCII the length is
  // wrong, and the command is encoded again.
  #encode(parts: readonly Part[]): void {
    let most = HEAD_BYTES_MAX;
    let count = 0;
    for (const part of parts) {
      const isFixed = part instanceof FixedParts;
      count += isFixed ? part.parts.length : 1;
      // A UTF-16 unit takes at most three bytes in UTF-8.
      if (isFixed) most += part.bytes.length;
      else most += HEAD_BYTES_MAX + (typeof part === "string" ? 3 : 1) * part.length;
    }
    this.#reserve(most);
    const out = this.#out;
    let at = writeLength(out, this.#outEnd, ASTERISK, count);
    for (const part of parts) {
      if (part instanceof FixedParts) {
        out.set(part.bytes, at);
        at += part.bytes.length;
        continue;
      }
      const { length } = part;
      at = writeLength(out, at, DOLLAR, length);
      if (typeof part === "string") {
        if (out.write(part, at) !== length) {
          this.#encode(parts.map(bytesOf));
          return;
        }
      } else {
        out.set(part, at);
      }
      out[at + length] = CR;
      out[at + length + 1] = LF;
      at += length + 2;
    }
    this.#outEnd = at;
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

/** Writes a sign, a length and the end of a line; returns the place after them. */
// biome-ignore lint/complexity/useMaxParams: it runs for each argument of a script
function writeLength(out: Buffer, start: number, sign: number, length: number): number {
  let at = start;
  out[at++] = sign;
  if (length < 10) {
    out[at++] = ZERO + length;
  } else if (length < 100) {
    out[at++] = ZERO + Math.trunc(length / 10);
    out[at++] = ZERO + (length % 10);
  } else {
    at += out.write(String(length), at);
  }
  out[at++] = CR;
  out[at++] = LF;
  return at;
}

function bytesOf(part: Part): Buffer | FixedParts {
  return typeof part === "string" ? Buffer.from(part) : part;
}
