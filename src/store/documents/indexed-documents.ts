// The documents of `farebox index add`: one set for all processes, each of which searches a copy.

import { createHash } from "node:crypto";
import { arrayText, type Database } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { documentSources, type indexedDocuments, indexState } from "../tables/index-schema.ts";

type DocumentRow = Readonly<typeof indexedDocuments.$inferSelect>;

/**
 * A document with a checked URL and checked texts. `keywords` are words for the search that are not
 * shown, `date` is such as `2026-11-21`, `language` a code of ISO 639-1; both null if unknown.
 */
export type IndexedDocument = Omit<DocumentRow, "id" | "source">;

/** The identity, version and revision that a copy is compared with. */
export type IndexState = Readonly<Omit<typeof indexState.$inferSelect, "id">>;

export type DocumentSource = Readonly<Omit<typeof documentSources.$inferSelect, "updatedAt">>;

/** Some megabytes at most. */
const BATCH_DOCUMENTS = 100;

export class IndexedDocuments {
  constructor(readonly database: Database) {}

  async state(): Promise<IndexState> {
    const { db } = this.database;
    const { identity, version, revision } = indexState;
    const read = async () => await db.select({ identity, version, revision }).from(indexState);
    const [state] = await this.database.withTimeout(read());
    if (state !== undefined) return state;
    // The row is missing in a new database, and in one restored from a backup of an earlier
    // release.
    await db.insert(indexState).values({}).onConflictDoNothing();
    const [made] = await read();
    if (made === undefined) throw new Error("The state of the index was not stored");
    return made;
  }

  async sources(): Promise<DocumentSource[]> {
    const { number, name, revision } = documentSources;
    const { db } = this.database;
    return await db.select({ number, name, revision }).from(documentSources).orderBy(number);
  }

  /** The sources that have documents, with their number, by name. */
  async counts(): Promise<{ source: string; documents: number }[]> {
    return await this.database.sql<{ source: string; documents: number }[]>`
      SELECT s.name AS source, count(*)::int AS documents
      FROM document_sources s JOIN indexed_documents d ON d.source = s.number
      GROUP BY s.name ORDER BY s.name`;
  }

  /**
   * Replaces all documents of a source; on an error, none. A document with the URL of another
   * source's takes its place. Returns the number of documents.
   */
  async replace(
    name: string,
    documents: AsyncIterable<IndexedDocument> | Iterable<IndexedDocument>,
  ): Promise<number> {
    await this.state();
    return await this.database.sql.begin(async (tx) => {
      await lock(tx);
      const [source] = await tx<{ number: number }[]>`
        INSERT INTO document_sources (name, updated_at) VALUES (${name}, now())
        ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at RETURNING number`;
      if (source === undefined) throw new Error("The source was not stored");
      await tx`DELETE FROM indexed_documents WHERE source = ${source.number}`;
      const changed = new Set([source.number]);
      const into = { source: source.number, changed };
      for await (const batch of batches(documents)) await add(tx, batch, into);
      await raise(tx, [...changed]);
      const [count] = await tx<{ documents: number }[]>`
        SELECT count(*)::int AS documents FROM indexed_documents WHERE source = ${source.number}`;
      return count?.documents ?? 0;
    });
  }

  /** Removes a source; returns how many documents it had. */
  async remove(name: string): Promise<number> {
    await this.state();
    return await this.database.sql.begin(async (tx) => {
      await lock(tx);
      const removed = await tx`
        DELETE FROM indexed_documents d USING document_sources s
        WHERE s.number = d.source AND s.name = ${name}`;
      const { count } = await tx`DELETE FROM document_sources WHERE name = ${name}`;
      if (count > 0) await raise(tx, []);
      return removed.count;
    });
  }

  /**
   * The documents of a source in pages, all as they were at one moment. False, without any page, if
   * the source is gone or has another revision by now.
   */
  async read(
    { number, revision }: DocumentSource,
    onPage: (documents: readonly IndexedDocument[]) => void,
  ): Promise<boolean> {
    const mode = "ISOLATION LEVEL REPEATABLE READ READ ONLY";
    return await this.database.sql.begin(mode, async (tx) => {
      const [found] = await tx`
        SELECT 1 FROM document_sources WHERE number = ${number} AND revision = ${revision}`;
      if (found === undefined) return false;
      let after: Uint8Array = new Uint8Array();
      for (;;) {
        const rows = await tx<(IndexedDocument & { readonly id: Uint8Array })[]>`
          SELECT id, url, title, text, keywords, date, language FROM indexed_documents
          WHERE source = ${number} AND id > ${after} ORDER BY id LIMIT ${BATCH_DOCUMENTS}`;
        const last = rows.at(-1);
        if (last === undefined) return true;
        onPage(rows);
        after = last.id;
      }
    });
  }
}

/** Changes wait for each other; reading does not wait. */
async function lock(tx: SqlTransaction): Promise<void> {
  await tx`LOCK TABLE document_sources IN SHARE ROW EXCLUSIVE MODE`;
}

interface Addition {
  readonly source: number;
  /** Gets the sources that lose a document. */
  readonly changed: Set<number>;
}

/** Adds a batch to a source. A document with the URL of another source's takes its place. */
async function add(
  tx: SqlTransaction,
  batch: readonly IndexedDocument[],
  { source, changed }: Addition,
): Promise<void> {
  const rows = batch.map((document) => ({ ...document, id: idOf(document.url), source }));
  const ids = arrayText(rows.map(({ id }) => `\\x${id.toString("hex")}`));
  const robbed = await tx<{ source: number }[]>`
    SELECT DISTINCT source FROM indexed_documents
    WHERE id = ANY(${ids}::bytea[]) AND source <> ${source}`;
  for (const { source: other } of robbed) changed.add(other);
  const columns = ["id", "source", "url", "title", "text", "keywords", "date", "language"] as const;
  await tx`
    INSERT INTO indexed_documents ${tx(rows, columns)}
    ON CONFLICT (id) DO UPDATE SET source = excluded.source, title = excluded.title,
      text = excluded.text, keywords = excluded.keywords, date = excluded.date,
      language = excluded.language`;
}

async function raise(tx: SqlTransaction, sources: readonly number[]): Promise<void> {
  await tx`UPDATE index_state SET version = version + 1, revision = gen_random_uuid()`;
  await tx`
    UPDATE document_sources SET revision = gen_random_uuid()
    WHERE number = ANY(${arrayText(sources)}::int[])`;
}

function idOf(url: string): Buffer {
  return createHash("sha256").update(url).digest();
}

/** Of two documents with the same URL a batch has the later one. */
async function* batches(
  documents: AsyncIterable<IndexedDocument> | Iterable<IndexedDocument>,
): AsyncGenerator<IndexedDocument[]> {
  const batch = new Map<string, IndexedDocument>();
  for await (const document of documents) {
    batch.set(document.url, document);
    if (batch.size < BATCH_DOCUMENTS) continue;
    yield [...batch.values()];
    batch.clear();
  }
  if (batch.size > 0) yield [...batch.values()];
}
