// Reads and writes this machine's copy of the documents that an operator loads into the embedded
// index. Postgres has the documents; the copy is a file that processes of this machine share, and
// can be read while one of them writes to it.

import { Database, SQLiteError } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type {
  DocumentSource,
  IndexedDocuments,
} from "../../../../store/documents/indexed-documents.ts";
import { createIndexTables, IndexWriter, SearchIndex } from "./search-index.ts";

/** The time that a writer waits for another writer. */
const BUSY_MS = 10_000;
const DAMAGED: ReadonlySet<string> = new Set(["SQLITE_CORRUPT", "SQLITE_NOTADB"]);

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;

/**
 * Makes a file that only its owner can read, whatever the umask of the process is, and the missing
 * folders of its path. If the file exists, takes the rights of all other users away. SQLite gives
 * the files beside its database the mode of the database.
 */
function ensurePrivate(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
  const handle = openSync(file, "a", FILE_MODE);
  try {
    if ((fstatSync(handle).mode & OTHERS) !== 0) fchmodSync(handle, FILE_MODE);
  } finally {
    closeSync(handle);
  }
}

/** The file of the copy; `identity` is that of the database. */
export function copyPath(directory: string, identity: string): string {
  return join(directory, `search-documents-${identity}.sqlite`);
}

/** Opens the copy for writing, and creates it if it is missing or damaged. */
function openForWriting(path: string): Database {
  // All documents are in Postgres, and a process that has the removed file open sees that the new
  // file is another one.
  if (isDamaged(path)) for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
  ensurePrivate(path);
  const db = new Database(path, { create: true, strict: true });
  db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // With WAL, readers can read while a process writes.
  db.run("PRAGMA journal_mode = WAL");
  db.transaction(() => {
    if (hasTable(db, "documents")) return;
    createIndexTables(db);
    db.run("CREATE TABLE sources (name TEXT PRIMARY KEY, revision TEXT NOT NULL)");
  }).immediate();
  return db;
}

/** True for a copy that a disk has damaged: no search would succeed with it. */
function isDamaged(path: string): boolean {
  if (!existsSync(path)) return false;
  using db = new Database(path, { readwrite: true, strict: true });
  try {
    db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return db.query("PRAGMA quick_check(1)").values()[0]?.[0] !== "ok";
  } catch (error) {
    if (error instanceof SQLiteError && DAMAGED.has(error.code ?? "")) return true;
    throw error;
  }
}

/**
 * Brings the copy up to date, one source after the other, and returns the version that it has then.
 * Each source is replaced whole or not at all. `onPage` is called now and then.
 */
export async function updateCopy(
  documents: IndexedDocuments,
  directory: string,
  onPage: () => void = () => {},
): Promise<number> {
  const { identity, version } = await documents.state();
  const sources = await documents.sources();
  const db = openForWriting(copyPath(directory, identity));
  try {
    const names = new Set(sources.map(({ name }) => name));
    for (const name of revisionsOf(db).keys()) if (!names.has(name)) forget(db, name);
    for (const source of sources) await copySource(db, source, { documents, onPage });
  } finally {
    db.close();
  }
  return version;
}

function revisionsOf(db: Database): Map<string, string> {
  const rows = db.query<{ name: string; revision: string }, []>("SELECT * FROM sources").all();
  return new Map(rows.map(({ name, revision }) => [name, revision]));
}

function forget(db: Database, name: string): void {
  db.transaction(() => {
    db.query("DELETE FROM documents WHERE source = ?").run(name);
    db.query("DELETE FROM sources WHERE name = ?").run(name);
  }).immediate();
}

async function copySource(
  db: Database,
  source: DocumentSource,
  { documents, onPage }: { readonly documents: IndexedDocuments; readonly onPage: () => void },
): Promise<void> {
  const { name, revision } = source;
  db.run("BEGIN IMMEDIATE");
  let isRead = false;
  try {
    // Another process of this machine may have copied it meanwhile.
    if (revisionsOf(db).get(name) === revision) return;
    const writer = new IndexWriter(db);
    db.query("DELETE FROM documents WHERE source = ?").run(name);
    // False if the source changed meanwhile: the next look copies its documents of that time.
    isRead = await documents.read(source, (page) => {
      for (const document of page) writer.add(document, name);
      onPage();
    });
    db.query("INSERT OR REPLACE INTO sources VALUES (?, ?)").run(name, revision);
  } finally {
    db.run(isRead ? "COMMIT" : "ROLLBACK");
  }
}

function hasTable(db: Database, name: string): boolean {
  return db.query("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== null;
}

/** Null while the copy is being made. Leaves no file open if it cannot be read. */
function openForReading(path: string): SearchIndex | null {
  const db = new Database(path, { readwrite: true, strict: true });
  let index: SearchIndex | null = null;
  try {
    db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    db.run("PRAGMA query_only = ON");
    if (hasTable(db, "sources")) index = new SearchIndex(db);
    return index;
  } finally {
    if (index === null) db.close();
  }
}

interface OpenCopy {
  readonly index: SearchIndex;
  /** The number of the copy's file. */
  readonly file: number;
}

/** Reads the copy, which may appear, and be made again, at any time. */
export class OwnDocuments {
  #open: OpenCopy | null = null;

  /** Null on a machine without a copy. */
  constructor(readonly path: string | null) {}

  /** The current index; null while there are no documents. */
  index(): SearchIndex | null {
    if (this.path === null) return null;
    const file = statSync(this.path, { throwIfNoEntry: false })?.ino;
    if (file === undefined || file === this.#open?.file) return this.#open?.index ?? null;
    const index = openForReading(this.path);
    if (index !== null) {
      this.#open?.index.db.close();
      this.#open = { index, file };
    }
    return this.#open?.index ?? null;
  }
}
