import type { Clock } from "./clock.ts";
import { messageOf } from "./text/error-message.ts";

/** The part of a logger that the program uses; pino has this shape. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const REPEATED_EVERY_MS = 1_000;
/**
 * The most causes of one message that are distinguished in a second; all further causes count as
 * one.
 */
export const CAUSES_MAX = 100;
/** The depth to which a value is read: an error may be its own cause. */
const LEVELS_MAX = 6;
/** Stands for all causes beyond CAUSES_MAX. */
const OTHERS = "";

interface PendingLine {
  readonly level: "warn" | "error";
  readonly message: string;
  fields: object;
  /** The number of equal lines since the last one was written. */
  count: number;
}

/**
 * A log for warnings and errors that come many times a second when a store or provider is away. The
 * log writes the first line of each cause at once, and then, each second, the latest line of the
 * cause with the number of earlier lines that it `omitted` (D-525). Two lines have the same cause
 * if they differ in nothing but their request.
 */
export class SeldomLog implements Log {
  /** The lines of the last second, by message and cause: each cause keeps its own line. */
  readonly #recent = new Map<string, Map<string, PendingLine>>();

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

  /** Writes the lines that wait for the end of their second. */
  flush(): void {
    for (const causes of this.#recent.values())
      for (const line of causes.values()) this.#write(line);
  }

  #take(line: PendingLine): void {
    const causes = this.#recent.get(line.message) ?? new Map<string, PendingLine>();
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

  #begin(causes: Map<string, PendingLine>, cause: string, line: PendingLine): void {
    this.#write(line);
    causes.set(cause, line);
    this.clock.after(REPEATED_EVERY_MS, () => {
      causes.delete(cause);
      if (line.count > 0) this.#begin(causes, cause, line);
      else if (causes.size === 0) this.#recent.delete(line.message);
    });
  }

  #write(line: PendingLine): void {
    const { level, fields, message, count } = line;
    line.count = 0;
    if (count > 0)
      this.lines[level](count === 1 ? fields : { ...fields, omitted: count - 1 }, message);
  }
}

function causeOf({ level, fields }: PendingLine): string {
  const { requestId: _, ...others } = fields as Readonly<Record<string, unknown>>;
  return `${level}\n${fullText(others)}`;
}

/** Writes out every part of a value, as the key of a cause. */
function fullText(value: unknown, levels = LEVELS_MAX): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (levels === 0) return "";
  const below = (one: unknown) => fullText(one, levels - 1);
  if (!(value instanceof Error)) {
    return Object.entries(value)
      .map(([name, one]) => `${name} ${below(one)}`)
      .join("\n");
  }
  const { name, cause, code, errors }: Error & { code?: unknown; errors?: unknown } = value;
  return [name, messageOf(value), code, cause, errors].map(below).join("\n");
}
