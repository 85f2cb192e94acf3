// The documents that an operator loads into the embedded index: in a file of their own, which
// outlives every version of the shipped one and is read while the command line writes to it.

import { Database } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createIndexTables, type IndexDocument, IndexWriter, SearchIndex } from "./search-index.ts";

const NAME = "search-documents.sqlite";
/** How long a writer waits for another one. */
const BUSY_MS = 10_000;

/** Opens the file for writing, and makes it where it is missing. */
export function openForWriting(directory: string): Database {
  mkdirSync(directory, { recursive: true });
  const db = new Database(join(directory, NAME), { create: true, strict: true });
  db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // Readers keep reading while a command writes.
  db.run("PRAGMA journal_mode = WAL");
  db.transaction(() => {
    const made = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'documents'").get();
    if (made === null) createIndexTables(db);
  }).immediate();
  return db;
}

/**
 * Puts these documents in place of what came from the source before: all of them, or on an error
 * none. Says how many they are.
 */
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

/** Where documents came from, and how many there are of each. */
export function listSources(db: Database): { source: string; documents: number }[] {
  return db
    .query<{ source: string; documents: number }, []>(
      "SELECT source, count(*) AS documents FROM documents GROUP BY source ORDER BY source",
    )
    .all();
}

/** Removes what came from a source; says how many documents that were. */
export function removeSource(db: Database, source: string): number {
  return db
    .transaction(() => {
      const documents = listSources(db).find((row) => row.source === source)?.documents ?? 0;
      db.query("DELETE FROM documents WHERE source = ?").run(source);
      return documents;
    })
    .immediate();
}

/** Reads the file of a running command line: it may appear at any time. */
export class OwnDocuments {
  #index: SearchIndex | null = null;

  constructor(readonly directory: string) {}

  /** The index as it is now, or null while there are no documents. */
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
