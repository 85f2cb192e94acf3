// Prints lists that the console shows too.

import { AdministrationError, ApiError } from "../core/errors.ts";
import type { ListReading } from "../readings/list-reading.ts";
import type { Answer, Input } from "./command.ts";
import { table } from "./print.ts";

/** The option that asks for the next page. */
export const BEFORE = {
  value: "PLACE",
  help: "the next page, as the page before names it",
} as const;

/** The place after which a page begins; null for the first page. */
export function beforeOf({ values }: Input): string | null {
  return values.get("before") ?? null;
}

/** Waits for a reading. @throws AdministrationError for a value that the console refuses too */
export async function readAsConsole<Reply>(reading: Promise<Reply>): Promise<Reply> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new AdministrationError("wrong_state", error.message);
  }
}

type Pages = Readonly<{ next: string | null }>;
type NamesOf<Reply> = Exclude<keyof Reply & string, "next" | "as_of">;
type LineOf<Reply, Name extends keyof Reply> = Reply[Name] extends readonly (infer Line)[]
  ? Line
  : never;

/** The terms by which the pages of a list are printed. */
interface PageTerms<Source, Input, Reply extends Pages, Name extends keyof Reply> {
  readonly list: ListReading<Source, Input, Reply>;
  /** The field of the reply that has the lines. */
  readonly name: Name;
  /** The cells of a line. */
  readonly cells: (line: LineOf<Reply, Name>) => readonly string[];
  /** The text for a page without rows. */
  readonly none?: string;
  /** The text below the rows. */
  readonly foot?: (reply: Reply) => string;
}

/** Prints pages of a list. A wrong value is refused as the console refuses it. */
export function pagePrinter<Source, Input, Reply extends Pages, Name extends NamesOf<Reply>>({
  list,
  name,
  cells,
  none = "There is nothing.",
  foot = () => "",
}: PageTerms<Source, Input, Reply, Name>): (source: Source, input: Input) => Promise<Answer> {
  return async (source, input) => {
    const reply = await readAsConsole(list.page(source, input));
    const lines = reply[name] as readonly LineOf<Reply, Name>[];
    const more = reply.next === null ? "" : `\nMore: --before ${reply.next}`;
    const text = lines.length === 0 ? none : table(lines.map(cells));
    return { json: reply as unknown as Answer["json"], text: `${text}${foot(reply)}${more}` };
  };
}
