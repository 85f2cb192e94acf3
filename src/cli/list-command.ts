// Commands that print a page of a list that the console shows too.

import { AdministrationError, ApiError } from "../core/errors.ts";
import type { Fields, WireOf } from "../core/records.ts";
import type { ListReading } from "../readings/list-reading.ts";
import type { Answer } from "./command.ts";
import { table } from "./print.ts";

/** The option that asks for the next page. */
export const BEFORE = {
  value: "PLACE",
  help: "the next page, as the page before names it",
} as const;

type NameOf<List> =
  List extends ListReading<infer _S, infer Name, infer _F, infer _I> ? Name : never;
type LineOf<List> =
  List extends ListReading<infer _S, infer _N, infer F, infer _I> ? WireOf<F> : never;

/** How the pages of a list are printed. */
export interface PageTerms<List> {
  readonly list: List;
  /** The field of the reply that has the lines. */
  readonly name: NameOf<List>;
  /** The cells of a line. */
  readonly cells: (line: LineOf<List>) => readonly string[];
  /** What is printed if there is no line. */
  readonly none?: string;
}

/** Reads a page and prints it. A wrong value is refused as the console refuses it. */
export async function printPage<Source, Name extends string, F extends Fields, Input>(
  {
    list,
    name,
    cells,
    none = "There is nothing.",
  }: {
    readonly list: ListReading<Source, Name, F, Input>;
    readonly name: Name;
    readonly cells: (line: WireOf<F>) => readonly string[];
    readonly none?: string;
  },
  source: Source,
  input: Input,
): Promise<Answer> {
  try {
    const reply = await list.page(source, input);
    const lines: readonly WireOf<F>[] = reply[name];
    const more = reply.next === null ? "" : `\nMore: --before ${reply.next}`;
    const text = lines.length === 0 ? none : table(lines.map(cells));
    return { json: reply as Answer["json"], text: `${text}${more}` };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new AdministrationError("wrong_state", error.message);
  }
}
