// Plans an import of customers from a CSV file of the operator's: one row for each account, with
// its opening balance and the names of its keys. A file with a fault is refused as a whole.

import { type NanoUsd, ZERO } from "../../core/money/money.ts";
import { type CsvRow, csvRows } from "../../core/text/csv-rows.ts";
import { amountFrom, lineFrom, positiveAmountFrom } from "../../core/text/field-rules.ts";
import { ForeignFileError } from "../../core/text/foreign-file.ts";
import { FORM_FIELDS } from "../../core/text/form-fields.ts";
import { parseAddress } from "../../core/text/mail-address.ts";
import {
  ANY_SPENDING,
  allowlistFrom,
  type ImportPlan,
  NO_LIMITS,
  type PlannedAccount,
  sharedEmails,
} from "./plan.ts";

/** The columns of the file, in any order; `name` must be there. */
export const CUSTOMER_COLUMNS = {
  name: "the name of the account; required",
  id: "your own id of the customer, by which a repeated import knows the row; else email, or name",
  email: "the address of the holder",
  balance_usd: "the opening balance, with up to nine decimals; empty: 0",
  suspended: "`yes` or `no`; empty: no",
  keys: "the names of keys to make, joined with `;`; empty: none",
  key_monthly_limit_usd: "what each of these keys may spend a month; empty: no limit",
  key_addresses: "addresses and CIDR blocks that the keys work from, joined with `;`; empty: all",
} as const;

type Column = keyof typeof CUSTOMER_COLUMNS;

export const CUSTOMER_COLUMN_NAMES = Object.keys(CUSTOMER_COLUMNS) as Column[];
const ID_CHARACTERS_MAX = 200;
const KEYS_MAX = 50;
const FAULTS_MAX = 50;
const SUSPENDED = new Map([
  ["", false],
  ["no", false],
  ["yes", true],
]);

/**
 * Plans an import from the text of a CSV file; `file` names it in messages.
 * @throws ForeignFileError that names the line and the field of every fault
 */
export function planCustomers(text: string, file: string): ImportPlan {
  const [header, ...rows] = csvRows(text.replace(/^\ufeff/, ""), file);
  const places = placesOf(header, file);
  if (rows.length === 0) throw new ForeignFileError(`${file} has no customer below its header`);
  const faults: string[] = [];
  const seen = new Map<string, number>();
  const accounts = rows.map((row) => {
    const cells = new Cells(row, places, (field, problem) => {
      faults.push(`${file} line ${row.line}${field === "" ? "" : `, ${field}`}: ${problem}`);
    });
    const account = readAccount(cells);
    const earlier = seen.get(account.origin);
    if (earlier !== undefined) {
      const field = cells.text("id") !== "" ? "id" : cells.text("email") !== "" ? "email" : "name";
      cells.fault(field, `line ${earlier} has the same: give each row an id of its own`);
    }
    seen.set(account.origin, earlier ?? row.line);
    return account;
  });
  if (faults.length > 0) throw new ForeignFileError(faultText(faults));
  const notes = sharedEmails(accounts);
  return { product: "CSV", accounts, catalogue: null, endUsers: null, notes };
}

function faultText(faults: readonly string[]): string {
  const more = faults.length - FAULTS_MAX;
  const rest = more > 0 ? [`and ${more} more faults`] : [];
  return [...faults.slice(0, FAULTS_MAX), ...rest, "Nothing was imported."].join("\n");
}

/** The place of each column. An unknown column is refused, since it may be a misspelt one. */
function placesOf(header: CsvRow | undefined, file: string): ReadonlyMap<string, number> {
  const names = (header?.cells ?? []).map((name) => name.trim().toLowerCase());
  const refuse = (problem: string): never => {
    throw new ForeignFileError(`${file} line ${header?.line ?? 1}: ${problem}`);
  };
  const known: readonly string[] = CUSTOMER_COLUMN_NAMES;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    refuse(`'${unknown}' is no column; columns are ${known.join(", ")}, with commas between`);
  }
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) refuse(`the column ${repeated} is there twice`);
  if (!names.includes("name")) refuse("the column name is missing");
  return new Map(names.map((name, index) => [name, index]));
}

/** Reads the cells of a row; a wrong cell is noted, and a harmless value stands in for it. */
class Cells {
  constructor(
    readonly row: CsvRow,
    readonly places: ReadonlyMap<string, number>,
    readonly fault: (field: string, problem: string) => void,
  ) {
    const { length } = row.cells;
    if (length !== places.size) {
      fault("", `has ${length} cells, but the header has ${places.size}`);
    }
  }

  text(column: Column): string {
    const place = this.places.get(column);
    return place === undefined ? "" : (this.row.cells[place] ?? "").trim();
  }

  /** The value of a cell; `fallback` for an empty one. */
  read<Value>(column: Column, fallback: Value, parse: (text: string) => Value): Value {
    const text = this.text(column);
    if (text === "") return fallback;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.fault(column, error.message);
      return fallback;
    }
  }
}

function readAccount(cells: Cells): PlannedAccount {
  const { charactersMax } = FORM_FIELDS.name;
  if (cells.text("name") === "") cells.fault("name", "is empty");
  const name = cells.read("name", "", (text) => lineFrom(text, charactersMax));
  const email = cells.read<string | null>("email", null, addressOf);
  const id = cells.read("id", "", (text) => lineFrom(text, ID_CHARACTERS_MAX));
  const origin = `customer:${id || email?.toLowerCase() || name}`;
  const balance = cells.read("balance_usd", ZERO, amountFrom);
  const suspended = cells.read("suspended", false, suspendedOf);
  const known = { origin, name, email, balance, suspended };
  return { ...known, ...ANY_SPENDING, keys: readKeys(cells, origin) };
}

function readKeys(cells: Cells, origin: string): PlannedAccount["keys"] {
  const monthlyLimit = cells.read<NanoUsd | null>(
    "key_monthly_limit_usd",
    null,
    positiveAmountFrom,
  );
  const ipAllowlist = cells.read<readonly string[]>("key_addresses", [], (text) => {
    const addresses = allowlistFrom(text.split(";"));
    if (addresses instanceof RangeError) throw addresses;
    return addresses;
  });
  const names = cells.read<readonly string[]>("keys", [], keyNames);
  for (const column of ["key_monthly_limit_usd", "key_addresses"] as const) {
    if (names.length === 0 && cells.text(column) !== "") {
      cells.fault(column, "is for keys, but the row names none");
    }
  }
  return names.map((name) => ({
    // The names are quoted: an id may have any text that could stand between two names.
    origin: `customer-key:${JSON.stringify([origin, name])}`,
    name,
    lastFour: "",
    monthlyLimit,
    ipAllowlist,
    ...NO_LIMITS,
  }));
}

function keyNames(text: string): string[] {
  const names = text.split(";").map((name) => lineFrom(name, FORM_FIELDS.name.charactersMax));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new RangeError(`has the key '${repeated}' twice`);
  if (names.length > KEYS_MAX) throw new RangeError(`must name at most ${KEYS_MAX} keys`);
  return names;
}

function addressOf(text: string): string {
  const parsed = parseAddress(text);
  if (typeof parsed === "string") throw new RangeError(`'${text}' ${parsed}`);
  return parsed.address;
}

function suspendedOf(text: string): boolean {
  const value = SUSPENDED.get(text.toLowerCase());
  if (value === undefined) throw new RangeError(`must be yes or no, but is '${text}'`);
  return value;
}
