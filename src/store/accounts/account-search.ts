// Finds accounts for operators: by any id that belongs to one, an address, a name, or the last four
// characters of a key. Newest first, in pages by the account's number.

import { type IdKind, isId, toUuid } from "../../core/ids.ts";
import type { StoredRow } from "../../core/records.ts";
import type { Database } from "../servers/database.ts";

export interface AccountQuestion {
  /** Null for every account. */
  readonly text: string | null;
  readonly before: number | null;
  readonly count: number;
}

/** Finds the account of an id of each kind: $1 is the id, or its UUID for a request. */
const BY_ID: Partial<Readonly<Record<IdKind, string>>> = {
  account: "SELECT number FROM accounts WHERE id = $1",
  key: "SELECT account FROM keys WHERE id = $1",
  payment: "SELECT account FROM payments WHERE id = $1",
  topUp: "SELECT account FROM top_ups WHERE id = $1",
  card: "SELECT account FROM saved_cards WHERE id = $1",
  person: "SELECT account FROM memberships WHERE person = $1",
  request: "SELECT account FROM request_log WHERE request = $1::text::uuid",
};

/** $1 is the text as it is, $2 a pattern that finds it anywhere. */
const BY_TEXT = `
  SELECT number FROM accounts WHERE email ILIKE $2 OR name ILIKE $2
  UNION SELECT m.account FROM memberships m JOIN people p ON p.id = m.person
    WHERE p.email ILIKE $2 OR p.name ILIKE $2
  UNION SELECT account FROM keys WHERE last_four = $1
  UNION SELECT account FROM payments WHERE provider_ref = $1
  UNION SELECT account FROM top_ups WHERE intent = $1 OR checkout = $1
  UNION SELECT account FROM provider_customers WHERE customer = $1`;

const COLUMNS = `
  SELECT a.number, a.id, a.surface, a.email, a.name, a.state, a.state_reason, a.created_at,
    coalesce(l.paid_after, 0) AS paid_usd, coalesce(l.free_after, 0) AS free_usd,
    coalesce(l.owed_after, 0) AS owed_usd
  FROM accounts a LEFT JOIN LATERAL (
    SELECT paid_after, free_after, owed_after FROM ledger_entries
    WHERE account = a.number ORDER BY seq DESC LIMIT 1) l ON true`;

/** At most `count` accounts, newest first. */
export async function searchAccounts(
  { sql }: Database,
  { text, before, count }: AccountQuestion,
): Promise<readonly StoredRow[]> {
  const { source, parameters } = searchSource(text);
  const [place, limit] = [parameters.length + 1, parameters.length + 2];
  const found = source === null ? "" : `a.number IN (${source}) AND`;
  return await sql.unsafe(
    `${COLUMNS} WHERE ${found} ($${place}::text IS NULL OR a.number < $${place}::text::bigint)
      ORDER BY a.number DESC LIMIT $${limit}::text::int`,
    [...parameters, before === null ? null : String(before), String(count)],
  );
}

const IDS_AT_ONCE = 5_000;

/** The ids of all accounts, newest first. */
export async function* accountIds({ sql }: Database): AsyncGenerator<string> {
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await sql`
      SELECT number, id FROM accounts WHERE number < ${String(before)}::text::bigint
      ORDER BY number DESC LIMIT ${IDS_AT_ONCE}`;
    for (const { id } of rows) yield String(id);
    if (rows.length < IDS_AT_ONCE) return;
    before = Number(rows.at(-1)?.number);
  }
}

function searchSource(text: string | null): { source: string | null; parameters: string[] } {
  if (text === null) return { source: null, parameters: [] };
  for (const [kind, source] of Object.entries(BY_ID)) {
    if (!isId(kind as IdKind, text)) continue;
    return { source, parameters: [kind === "request" ? toUuid(text) : text] };
  }
  return { source: BY_TEXT, parameters: [text, `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`] };
}
