// Reads the usage exports of providers: CSV files with the costs of days and models. The header
// decides the form. Other columns than those named here are not read.

import { type Decimal, decimal } from "../../core/money/decimal.ts";
import { isDay } from "../../core/money/months.ts";
import { type CsvRow, csvRows } from "../../core/text/csv-rows.ts";
import { ForeignFileError, refuseAt } from "../../core/text/foreign-file.ts";

/** A line of an export: the cost of a model on a UTC day, in USD. */
export interface ExportLine {
  readonly day: string;
  /** The provider's name of the model. */
  readonly model: string;
  readonly cost: Decimal;
}

export interface UsageExport {
  /** The name of the export's form. */
  readonly form: string;
  readonly lines: readonly ExportLine[];
  /** The most by which the provider rounded each line, in USD. */
  readonly rounding: Decimal;
}

/** Reads a cell of a row. */
interface Cells {
  /** The text of a column; "" for a column that the file does not have. */
  text(column: string): string;
  refuse(column: string, problem: string): never;
}

interface ExportForm {
  readonly name: string;
  /** A file of this form has these columns. */
  readonly columns: readonly string[];
  readonly rounding: Decimal;
  /** Null for a row without a cost. */
  readonly read: (cells: Cells) => ExportLine | null;
}

const NOTHING: Decimal = { digits: 0n, scale: 0 };
const HALF_A_CENT: Decimal = { digits: 5n, scale: 3 };

const FORMS: readonly ExportForm[] = [
  {
    name: "OpenAI costs",
    columns: ["start_time", "amount_value", "amount_currency", "line_item"],
    rounding: NOTHING,
    read(cells) {
      // A day without costs is a row without an amount.
      if (cells.text("amount_value") === "") return null;
      if (cells.text("amount_currency").toLowerCase() !== "usd") {
        cells.refuse("amount_currency", "must be usd");
      }
      const [model = ""] = cells.text("line_item").split(",");
      if (model.trim() === "") {
        cells.refuse("line_item", "is empty: group the export by line item");
      }
      const seconds = cells.text("start_time");
      if (!/^\d{9,11}$/.test(seconds)) cells.refuse("start_time", "must be a time in seconds");
      const day = new Date(Number(seconds) * 1000).toISOString().slice(0, DAY_LENGTH);
      return { day, model: model.trim(), cost: costIn(cells, "amount_value") };
    },
  },
  {
    name: "Anthropic costs",
    columns: ["usage_date_utc", "model", "cost_usd"],
    rounding: HALF_A_CENT,
    read: (cells) => ({
      day: dayIn(cells, "usage_date_utc"),
      model: cells.text("model") || "no model",
      cost: costIn(cells, "cost_usd"),
    }),
  },
  {
    name: "OpenRouter activity, by call",
    columns: ["created_at", "cost_total", "model_permaslug"],
    rounding: NOTHING,
    read(cells) {
      const variant = cells.text("variant");
      const suffix = variant === "" || variant === "standard" ? "" : `:${variant}`;
      return {
        day: dayIn(cells, "created_at"),
        model: modelIn(cells, "model_permaslug") + suffix,
        cost: withOwnKeys(cells, "cost_total", "byok_usage_inference"),
      };
    },
  },
  {
    name: "OpenRouter activity, by day",
    columns: ["Date", "Slug", "Usage"],
    rounding: NOTHING,
    read: (cells) => ({
      day: dayIn(cells, "Date"),
      model: modelIn(cells, "Slug"),
      cost: withOwnKeys(cells, "Usage", "BYOK Usage"),
    }),
  },
];

const DAY_LENGTH = "2026-11-22".length;

/** Reads an export. @throws ForeignFileError that names the line and the column */
export function readUsageExport(text: string, file: string): UsageExport {
  const [header, ...rows] = csvRows(text.replace(/^\ufeff/, ""), file);
  const names = (header?.cells ?? []).map((name) => name.trim());
  const form = FORMS.find(({ columns }) => columns.every((column) => names.includes(column)));
  if (form === undefined) {
    const known = FORMS.map(({ name, columns }) => `${name} (${columns.join(", ")})`);
    throw new ForeignFileError(
      `${file} line 1: no known export has these columns. Known are ${known.join("; ")}`,
    );
  }
  const places = new Map(names.map((name, index) => [name, index]));
  const lines = rows.flatMap((row) => {
    if (row.cells.length !== names.length) {
      const problem = `has ${row.cells.length} cells, and the header ${names.length}`;
      refuseAt({ file, line: row.line, field: "" }, problem);
    }
    return form.read(cellsOf(row, places, file)) ?? [];
  });
  return { form: form.name, lines, rounding: form.rounding };
}

function cellsOf(
  { line, cells }: CsvRow,
  places: ReadonlyMap<string, number>,
  file: string,
): Cells {
  return {
    text: (column) => cells[places.get(column) ?? -1]?.trim() ?? "",
    refuse: (field, problem) => refuseAt({ file, line, field }, problem),
  };
}

function dayIn(cells: Cells, column: string): string {
  const text = cells.text(column);
  const day = text.slice(0, DAY_LENGTH);
  const hasDay = /^\d{4}-\d{2}-\d{2}(?:$|[T ])/.test(text) && isDay(day);
  // A time of another zone may be of another UTC day.
  if (!hasDay || /[+-](?!00:?00)\d{2}:?\d{2}$/.test(text.slice(DAY_LENGTH))) {
    cells.refuse(column, `must be a day or a time in UTC, but is '${text}'`);
  }
  return day;
}

function modelIn(cells: Cells, column: string): string {
  return cells.text(column) || cells.refuse(column, "is empty");
}

function costIn(cells: Cells, column: string): Decimal {
  const text = cells.text(column);
  const cost = decimal(text);
  return cost === null || cost.digits < 0n
    ? cells.refuse(column, `must be an amount of USD, but is '${text}'`)
    : cost;
}

/** The sum of OpenRouter's charge and the cost of the operator's own keys at model providers. */
function withOwnKeys(cells: Cells, charged: string, ownKeys: string): Decimal {
  const cost = costIn(cells, charged);
  return cells.text(ownKeys) === "" ? cost : sumOf([cost, costIn(cells, ownKeys)]);
}

/** The exact sum. */
export function sumOf(values: readonly Decimal[]): Decimal {
  const scale = values.reduce((most, value) => Math.max(most, value.scale), 0);
  const digits = values.reduce((all, v) => all + v.digits * 10n ** BigInt(scale - v.scale), 0n);
  return { digits, scale };
}
