// Defines lists that are shown page by page, newest first. From the record of its lines, its
// filters and the function that reads it follow the query, the reply and the example of a list. The
// console, the operators' console and the command line show these lists.

import {
  type Fields,
  jsonOf,
  listOf,
  nested,
  nullable,
  type StoredRow,
  text,
  type WireOf,
} from "../core/records.ts";
import { invalid } from "../http/body/checks.ts";
import { type ConsoleInput, queryOf } from "../http/console/console-endpoint.ts";
import { before } from "../http/console/fields.ts";
import { replyWith } from "../http/console/record-schema.ts";
import type { Example } from "../http/endpoint-info.ts";
import {
  type Checked,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from "../http/schema.ts";

/** The number of rows of a page, unless the caller asks for another number. */
export const ROWS_PER_PAGE = 50;

const NEXT = nullable(
  text({ about: "`before` of the next page; null on the last", sample: "41" }),
  { sample: null },
);

/** Names the last row of a page in `next`, and reads that name again. */
export interface Keyset<Place, Row = StoredRow> {
  readonly nameOf: (row: Row) => string;
  /** Null for a text that no page has given. */
  readonly parse: (name: string) => Place | null;
}

/** The rows of a page. */
export interface Page<Place> {
  /** The page begins after this place; null for the newest rows. */
  readonly before: Place | null;
  /** One row more than the page shows: it proves that another page follows. */
  readonly count: number;
}

const NUMBER = /^[1-9]\d{0,14}$/;

/** The whole number above zero in an address or an argument; null if the text is none. */
export function numberFrom(text: string): number | null {
  return NUMBER.test(text) ? Number(text) : null;
}

/** Pages by a whole number that each row has in this column. */
export function byNumber<Column extends string>(
  column: Column,
): Keyset<number, { readonly [Name in Column]?: unknown }> {
  return {
    nameOf: (row) => String(row[column]),
    parse: numberFrom,
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

/** Fields of the reply besides its lines, and the function that reads them. */
interface ListHead<Source, H extends Fields> {
  readonly fields: H;
  readonly read: (source: Source) => Promise<WireOf<H>>;
}

interface ListDefinition<
  Source,
  Name extends string,
  F extends Fields,
  Q extends TProperties,
  Place,
  Row,
  H extends Fields,
> {
  /** The field of the reply that has the lines. */
  readonly name: Name;
  readonly line: F;
  /** The fields of the query besides `before`. */
  readonly filters: Q;
  readonly keyset: Keyset<Place, NoInfer<Row>>;
  /** Read before the lines. */
  readonly head?: ListHead<Source, H>;
  readonly read: (source: Source, query: QueryOf<Q>, page: Page<Place>) => Promise<readonly Row[]>;
  /** Makes a line of a row; by default a row has a column for each field. */
  readonly toLine?: (row: Row) => WireOf<F>;
  /** The number of lines that the query asks for. */
  readonly rowsPerPage?: (query: QueryOf<Q>) => number;
}

type Before = { readonly before: typeof before };
type QuerySchema<Q extends TProperties> = TUnsafe<Static<TObject<Q>> & Static<TObject<Before>>>;
type QueryOf<Q extends TProperties> = Checked<QuerySchema<Q>>;
type NoFields = Record<never, never>;

/** A page of a list in JSON. */
type ListReply<Name extends string, F extends Fields, H extends Fields> = WireOf<H> & {
  readonly [N in Name]: readonly WireOf<F>[];
} & { readonly next: string | null };

interface ListEndpoint<Input> {
  readonly method: "GET";
  readonly query: NonNullable<ConsoleInput<Input>["query"]>;
  readonly reply: TSchema;
  readonly examples: readonly Example[];
}

export interface ListReading<Source, Input, Reply> {
  readonly query: NonNullable<ConsoleInput<Input>["query"]>;
  /** The parts of an endpoint; its example has one line, and this query if there is one. */
  readonly endpoint: (summary: string, query?: string) => ListEndpoint<Input>;
  /** Reads a page. @throws ApiError that names the field at fault */
  readonly page: (source: Source, input: Input) => Promise<Reply>;
}

/** A page of this list in JSON. */
export type PageOf<List> =
  List extends ListReading<infer _S, infer _I, infer Reply> ? Reply : never;

export function listReading<
  Source,
  Name extends string,
  F extends Fields,
  Q extends TProperties,
  Place,
  Row = StoredRow,
  H extends Fields = NoFields,
>(
  definition: ListDefinition<Source, Name, F, Q, Place, Row, H>,
): ListReading<Source, QueryOf<Q>, ListReply<Name, F, H>> {
  const { name, line, filters, keyset, head, rowsPerPage } = definition;
  const toLine = definition.toLine ?? ((row) => jsonOf(line, row as StoredRow));
  const schema: QuerySchema<Q> = Type.Unsafe(
    Type.Object({ ...filters, before }, { additionalProperties: false }),
  );
  const query = queryOf(schema);
  const fields = { ...head?.fields, [name]: listOf(nested(line)), next: NEXT };
  return {
    query,
    endpoint: (summary, queryText) => ({
      method: "GET",
      query,
      ...replyWith(fields, { summary, ...(queryText !== undefined && { query: queryText }) }),
    }),
    async page(source, input) {
      const top = await head?.read(source);
      const { before: given } = input as Checked<TObject<Before>>;
      const read = (page: Page<Place>) => definition.read(source, input, page);
      const { rows, next } = await readPage(
        keyset,
        { before: given, rowsPerPage: rowsPerPage?.(input) },
        read,
      );
      const reply = { ...top, [name]: rows.map(toLine), next };
      return reply as ListReply<Name, F, H>;
    },
  };
}

interface PageWish {
  /** The name of the page; null for the first one. */
  readonly before: string | null | undefined;
  readonly rowsPerPage: number | undefined;
}

/** Reads the rows of a page, and names the next page. @throws ApiError for a wrong `before` */
async function readPage<Place, Row>(
  keyset: Keyset<Place, Row>,
  { before, rowsPerPage = ROWS_PER_PAGE }: PageWish,
  read: (page: Page<Place>) => Promise<readonly Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const found = await read({ before: placeOf(keyset, before), count: rowsPerPage + 1 });
  const last = found.length > rowsPerPage ? found[rowsPerPage - 1] : undefined;
  const next = last === undefined ? null : keyset.nameOf(last);
  return { rows: found.slice(0, rowsPerPage), next };
}

function placeOf<Place, Row>(
  keyset: Keyset<Place, Row>,
  name: string | null | undefined,
): Place | null {
  if (name == null) return null;
  const place = keyset.parse(name);
  if (place === null) throw invalid("before", "must be the `next` of a page");
  return place;
}
