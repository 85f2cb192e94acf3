import type { Clock } from "./clock.ts";
import { messageOf } from "./error-message.ts";

/** The part of a logger that the program uses; pino has this shape. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const REPEATED_EVERY_MS = 1_000;
/** So many causes are told apart in a second; of further ones, lines of one message are alike. */
export const CAUSES_MAX = 100;
/** So far down the causes of an error are looked at: one may lead back to its own effect. */
const LEVELS_MAX = 5;

interface Line {
  readonly level: "warn" | "error";
  readonly message: string;
  fields: object;
  /** So many like it came since one was written. */
  count: number;
}

/**
 * A log for warnings and errors that come many times a second when a store or provider is away. It
 * writes the first of each cause at once, then the latest of each second, with the number of those
 * before it that it `omitted` (D-519). A cause is all that a line says, but for its request.
 */
export class SeldomLog implements Log {
  /** What came in the last second, by cause. */
  readonly #recent = new Map<string, Line>();

  constructor(
    readonly lines: Log,
    readonly clock: Pick<Clock, "after">,
  ) {}

  info(fields: object, message: string): void {
    this.lines.info(fields, message);
  }

  warn(fields: object, message: string): void {
    this.#take({ level: "warn", message, fields, count: 1 });
  }

  error(fields: object, message: string): void {
    this.#take({ level: "error", message, fields, count: 1 });
  }

  /** Writes what waits for the end of its second. */
  flush(): void {
    for (const line of this.#recent.values()) this.#write(line);
  }

  #take(line: Line): void {
    const exact = causeOf(line);
    const isKnown = this.#recent.has(exact) || this.#recent.size < CAUSES_MAX;
    const cause = isKnown ? exact : line.message;
    const recent = this.#recent.get(cause);
    if (recent === undefined) this.#begin(cause, line);
    else {
      recent.fields = line.fields;
      recent.count += 1;
    }
  }

  #begin(cause: string, line: Line): void {
    this.#write(line);
    this.#recent.set(cause, line);
    this.clock.after(REPEATED_EVERY_MS, () => {
      this.#recent.delete(cause);
      if (line.count > 0) this.#begin(cause, line);
    });
  }

  #write(line: Line): void {
    const { level, fields, message, count } = line;
    line.count = 0;
    if (count > 0)
      this.lines[level](count === 1 ? fields : { ...fields, omitted: count - 1 }, message);
  }
}

function causeOf({ level, message, fields }: Line): string {
  const { requestId: _, ...others } = fields as Readonly<Record<string, unknown>>;
  const texts = Object.entries(others).map(([name, value]) => `${name} ${textOf(value)}`);
  return [level, message, ...texts].join("\n");
}

function textOf(value: unknown, levels = LEVELS_MAX): string {
  if (!(value instanceof Error)) return String(value);
  const cause = levels === 0 ? "" : textOf(value.cause, levels - 1);
  return [value.name, messageOf(value), "code" in value ? value.code : "", cause].join("\n");
}
