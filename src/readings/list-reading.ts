// Lists that are shown page by page, newest first. From the record of its lines, its filters and
// the function that reads it follow the query, the reply and the example of a list, for whoever
// shows it: the console, the operators' console and the command line.

import { type Fields, jsonOf, type StoredRow, sampleOf, type WireOf } from "../core/records.ts";
import { invalid } from "../http/body/checks.ts";
import { type ConsoleInput, queryOf } from "../http/console/console-endpoint.ts";
import { AsOf, before } from "../http/console/fields.ts";
import { schemaOf } from "../http/console/record-schema.ts";
import type { Example } from "../http/endpoint-info.ts";
import {
  type Checked,
  nullable,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
  text,
} from "../http/schema.ts";
import { AGE_SAMPLE, type AsOfJson } from "./reading.ts";

/** How many rows a page has, unless the caller asks for another number. */
export const ROWS_PER_PAGE = 50;

/** How `next` of a page names its last row, and how that name is read again. */
export interface Keyset<Place, Row = StoredRow> {
  readonly nameOf: (row: Row) => string;
  /** Null for a text that no page has given. */
  readonly parse: (name: string) => Place | null;
}

/** Which rows a page has. */
export interface Page<Place> {
  /** The page begins after this place; null for the newest rows. */
  readonly before: Place | null;
  /** One row more than the page shows, which tells whether another page follows. */
  readonly count: number;
}

const NUMBER = /^[1-9]\d{0,14}$/;

/** Pages by a whole number that each row has in this column. */
export function byNumber<Row extends object = StoredRow>(
  column: keyof Row & string,
): Keyset<number, Row> {
  return {
    nameOf: (row) => String(row[column]),
    parse: (name) => (NUMBER.test(name) ? Number(name) : null),
  };
}

export interface TimePlace {
  /** Since 1970: Postgres can make a time of it. */
  readonly micros: string;
  readonly id: string;
}

/** Pages by the column `micros`, a time, and by the id of the row, which matches this pattern. */
export function byTime(id: RegExp): Keyset<TimePlace> {
  return {
    nameOf: ({ micros, id: own }) => `${micros}.${own}`,
    parse(name) {
      const [, micros, rest = ""] = /^(\d{1,16})\.(.+)$/.exec(name) ?? [];
      return micros === undefined || !id.test(rest) ? null : { micros, id: rest };
    },
  };
}

interface ListDefinition<
  Source,
  Name extends string,
  F extends Fields,
  Q extends TProperties,
  Place,
> {
  /** The field of the reply that has the lines. */
  readonly name: Name;
  readonly line: F;
  /** The fields of the query besides `before`. */
  readonly filters: Q;
  readonly keyset: Keyset<Place>;
  /** Says until when the lines are complete; missing if they always are. */
  readonly asOf?: (source: Source) => Promise<AsOfJson>;
  readonly read: (
    source: Source,
    query: QueryOf<Q>,
    page: Page<Place>,
  ) => Promise<readonly StoredRow[]>;
}

type Before = { readonly before: typeof before };
type QuerySchema<Q extends TProperties> = TUnsafe<Static<TObject<Q>> & Static<TObject<Before>>>;
type QueryOf<Q extends TProperties> = Checked<QuerySchema<Q>>;

/** A page of a list in JSON. */
export type ListReply<Name extends string, F extends Fields> = {
  readonly [N in Name]: readonly WireOf<F>[];
} & { readonly next: string | null; readonly as_of?: AsOfJson };

interface ListEndpoint<Input> {
  readonly method: "GET";
  readonly query: NonNullable<ConsoleInput<Input>["query"]>;
  readonly reply: TSchema;
  readonly examples: readonly Example[];
}

export interface ListReading<Source, Name extends string, F extends Fields, Input> {
  /** The parts of an endpoint; its example has one line, and this query if there is one. */
  readonly endpoint: (summary: string, query?: string) => ListEndpoint<Input>;
  /** Reads a page. @throws ApiError that names the field at fault */
  readonly page: (source: Source, input: Input) => Promise<ListReply<Name, F>>;
}

export function listReading<
  Source,
  Name extends string,
  F extends Fields,
  Q extends TProperties,
  Place,
>(definition: ListDefinition<Source, Name, F, Q, Place>): ListReading<Source, Name, F, QueryOf<Q>> {
  const { name, line, filters, keyset, asOf } = definition;
  const query: QuerySchema<Q> = Type.Unsafe(
    Type.Object({ ...filters, before }, { additionalProperties: false }),
  );
  const schema = Type.Object({
    ...(asOf !== undefined && { as_of: AsOf }),
    [name]: Type.Array(schemaOf(line)),
    next: nullable(text()),
  });
  const sample = replyOf(name, [sampleOf(line)], null, asOf && AGE_SAMPLE);
  return {
    endpoint: (summary, queryText) => ({
      method: "GET",
      query: queryOf(query),
      reply: schema,
      examples: [{ summary, ...(queryText !== undefined && { query: queryText }), reply: sample }],
    }),
    async page(source, input) {
      const age = await asOf?.(source);
      const { before: given } = input as Checked<TObject<Before>>;
      const read = (page: Page<Place>) => definition.read(source, input, page);
      const { rows, next } = await readPage(keyset, given, read);
      const lines = rows.map((row) => jsonOf(line, row));
      return replyOf(name, lines, next, age);
    },
  };
}

/** Reads the rows of a page, and names the next page. @throws ApiError for a wrong `before` */
export async function readPage<Place, Row>(
  keyset: Keyset<Place, Row>,
  before: string | null | undefined,
  read: (page: Page<Place>) => Promise<readonly Row[]>,
  rowsPerPage = ROWS_PER_PAGE,
): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const found = await read({ before: placeOf(keyset, before), count: rowsPerPage + 1 });
  const last = found.length > rowsPerPage ? found[rowsPerPage - 1] : undefined;
  const next = last === undefined ? null : keyset.nameOf(last);
  return { rows: found.slice(0, rowsPerPage), next };
}

function replyOf<Name extends string, F extends Fields>(
  name: Name,
  lines: readonly WireOf<F>[],
  next: string | null,
  age: AsOfJson | undefined,
): ListReply<Name, F> {
  const reply = { ...(age !== undefined && { as_of: age }), [name]: lines, next };
  return reply as ListReply<Name, F>;
}

function placeOf<Place, Row>(
  keyset: Keyset<Place, Row>,
  name: string | null | undefined,
): Place | null {
  if (name == null) return null;
  const place = keyset.parse(name);
  if (place === null) throw invalid("before", "must be `next` of a page");
  return place;
}
