// The documents that an operator loads into the embedded index. They have their own file, which is
// kept when the shipped index changes, and can be read while the command line writes to it.

import { Database } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createIndexTables, type IndexDocument, IndexWriter, SearchIndex } from "./search-index.ts";

const NAME = "search-documents.sqlite";
/** How long a writer waits for another one. */
const BUSY_MS = 10_000;

/** Opens the file for writing, and creates it if it is missing. */
export function openForWriting(directory: string): Database {
  mkdirSync(directory, { recursive: true });
  const db = new Database(join(directory, NAME), { create: true, strict: true });
  db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // With WAL, readers can read while a command writes.
  db.run("PRAGMA journal_mode = WAL");
  db.transaction(() => {
    const made = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'documents'").get();
    if (made === null) createIndexTables(db);
  }).immediate();
  return db;
}

/** Replaces all documents of a source; on an error, none. Returns the number of new documents. */
export async function replaceSource(
  db: Database,
  source: string,
  documents: AsyncIterable<IndexDocument>,
): Promise<number> {
  const writer = new IndexWriter(db);
  let count = 0;
  db.run("BEGIN IMMEDIATE");
  try {
    db.query("DELETE FROM documents WHERE source = ?").run(source);
    for await (const document of documents) {
      writer.add(document, source);
      count += 1;
    }
    db.run("COMMIT");
  } catch (error) {
    db.run("ROLLBACK");
    throw error;
  }
  return count;
}

/** The sources of documents, with the number of documents of each. */
export function listSources(db: Database): { source: string; documents: number }[] {
  return db
    .query<{ source: string; documents: number }, []>(
      "SELECT source, count(*) AS documents FROM documents GROUP BY source ORDER BY source",
    )
    .all();
}

/** Removes the documents of a source; returns how many there were. */
export function removeSource(db: Database, source: string): number {
  return db
    .transaction(() => {
      const documents = listSources(db).find((row) => row.source === source)?.documents ?? 0;
      db.query("DELETE FROM documents WHERE source = ?").run(source);
      return documents;
    })
    .immediate();
}

/** Reads the file that the command line writes; it may appear at any time. */
export class OwnDocuments {
  #index: SearchIndex | null = null;

  constructor(readonly directory: string) {}

  /** The current index; null while there are no documents. */
  index(): SearchIndex | null {
    const path = join(this.directory, NAME);
    if (this.#index === null && existsSync(path)) {
      const db = new Database(path, { readwrite: true, strict: true });
      db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
      db.run("PRAGMA query_only = ON");
      const made = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'document_removed'").get();
      if (made === null) db.close();
      else this.#index = new SearchIndex(db);
    }
    return this.#index;
  }
}
