// The columns of a table. A column that shows a field is drawn by the kind of the field.

import type { ReactNode } from "react";
import { fieldKindOf } from "../field-kinds.ts";
import { countText } from "../numbers.ts";
import { dayTime } from "../time.ts";
import { Money } from "./money.tsx";

export interface Column<Row> {
  /** Its name among the columns of the table. */
  readonly id: string;
  readonly title: string;
  readonly show: (row: Row) => ReactNode;
  /** True if the column is aligned to the right. */
  readonly isNumber: boolean;
  readonly className: string;
}

type NamesOf<Row, Value> = {
  [Name in keyof Row]-?: Row[Name] extends Value ? Name : never;
}[keyof Row] &
  string;

/** A field by its name, or a cell that a function makes. */
type Shown<Row> =
  | NamesOf<Row, string | null>
  /** A field with a number. */
  | { readonly count: NamesOf<Row, number> }
  /** An amount that is written with its sign. */
  | { readonly change: NamesOf<Row, string> }
  /** A cell that is aligned to the right. */
  | { readonly number: (row: Row) => ReactNode }
  /** A cell whose text wraps within long words. */
  | { readonly words: (row: Row) => ReactNode }
  | ((row: Row) => ReactNode);

/** The cells of the columns with these titles. */
export type ShownOf<Row, Titles> = { readonly [Name in keyof Titles]?: Shown<Row> };

/** The buttons of each row. The column of the buttons has a title only if one is given. */
interface Buttons<Row> {
  readonly title?: string;
  readonly show: (row: Row) => ReactNode;
}

/** The columns with these titles, in this order, and a last one with buttons. */
export function columnsOf<Row, Titles extends object>(
  titles: Titles,
  shown: ShownOf<Row, Titles>,
  buttons?: Buttons<Row>,
): readonly Column<Row>[] {
  const columns = Object.entries(shown).map(([id, how]) =>
    columnOf(id, String(titles[id as keyof Titles]), how as Shown<Row>),
  );
  if (buttons === undefined) return columns;
  const { title = "", show } = buttons;
  return [...columns, columnOf("buttons", title, title === "" ? { number: show } : show)];
}

/** A column with a title that only the page knows. */
export function columnOf<Row>(id: string, title: string, how: Shown<Row>): Column<Row> {
  const text = { id, title, isNumber: false, className: "text" };
  const number = { id, title, isNumber: true, className: "num" };
  if (typeof how === "function") return { ...text, show: how };
  if (typeof how === "string") return fieldColumn(how, text, number);
  if ("count" in how) return { ...number, show: (row) => countText(Number(row[how.count])) };
  if ("number" in how) return { ...number, show: how.number };
  if ("words" in how) return { ...text, className: "text words", show: how.words };
  return { ...number, show: (row) => <Money usd={String(row[how.change])} signed /> };
}

type Look = Omit<Column<never>, "show">;

function fieldColumn<Row>(name: keyof Row & string, text: Look, number: Look): Column<Row> {
  const kind = fieldKindOf(name);
  const cell = (value: string) =>
    kind === "usd" ? <Money usd={value} /> : kind === "time" ? dayTime(value) : value;
  const look = {
    usd: number,
    time: { ...text, className: "text nowrap tabular" },
    text,
  }[kind];
  return { ...look, show: (row) => (row[name] === null ? "–" : cell(String(row[name]))) };
}
