import type { Clock } from "./clock.ts";
import { messageOf } from "./text/error-message.ts";

/** The part of a logger that the program uses; pino has this shape. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const REPEATED_EVERY_MS = 1_000;
/** So many causes of one message are told apart in a second; its further ones are alike. */
export const CAUSES_MAX = 100;
/** So far down a value is looked at: an error may be its own cause. */
const LEVELS_MAX = 6;
/** The cause of the further ones. */
const OTHERS = "";

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
  /** What came in the last second, by message and cause: none takes the place of another. */
  readonly #recent = new Map<string, Map<string, Line>>();

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
    for (const causes of this.#recent.values())
      for (const line of causes.values()) this.#write(line);
  }

  #take(line: Line): void {
    const causes = this.#recent.get(line.message) ?? new Map<string, Line>();
    this.#recent.set(line.message, causes);
    const exact = causeOf(line);
    const cause = causes.has(exact) || causes.size < CAUSES_MAX ? exact : OTHERS;
    const recent = causes.get(cause);
    if (recent === undefined) this.#begin(causes, cause, line);
    else {
      recent.fields = line.fields;
      recent.count += 1;
    }
  }

  #begin(causes: Map<string, Line>, cause: string, line: Line): void {
    this.#write(line);
    causes.set(cause, line);
    this.clock.after(REPEATED_EVERY_MS, () => {
      causes.delete(cause);
      if (line.count > 0) this.#begin(causes, cause, line);
      else if (causes.size === 0) this.#recent.delete(line.message);
    });
  }

  #write(line: Line): void {
    const { level, fields, message, count } = line;
    line.count = 0;
    if (count > 0)
      this.lines[level](count === 1 ? fields : { ...fields, omitted: count - 1 }, message);
  }
}

function causeOf({ level, fields }: Line): string {
  const { requestId: _, ...others } = fields as Readonly<Record<string, unknown>>;
  return `${level}\n${textOf(others)}`;
}

/** All that a value says. */
function textOf(value: unknown, levels = LEVELS_MAX): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (levels === 0) return "";
  const below = (one: unknown) => textOf(one, levels - 1);
  if (!(value instanceof Error)) {
    return Object.entries(value)
      .map(([name, one]) => `${name} ${below(one)}`)
      .join("\n");
  }
  const { name, cause, code, errors }: Error & { code?: unknown; errors?: unknown } = value;
  return [name, messageOf(value), code, cause, errors].map(below).join("\n");
}
