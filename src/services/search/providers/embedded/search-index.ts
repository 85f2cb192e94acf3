// An index of documents in SQLite: FTS5 with English stemming, ranked by BM25; words in the title
// have the highest weight.

import type { Database } from "bun:sqlite";
import type { IndexedDocument } from "../../../../store/documents/indexed-documents.ts";
import { sourceOf } from "../plain-text.ts";
import { excerptOf, MATCH_END, MATCH_START } from "./excerpt.ts";

/** A document with a checked URL and checked texts. */
export type IndexDocument = IndexedDocument;

export interface IndexQuery {
  readonly query: string;
  readonly limit: number;
  readonly language: string | null;
  /** Only documents of this day or later, `2026-11-21`. */
  readonly since: string | null;
  readonly includeDomains: readonly string[];
  readonly excludeDomains: readonly string[];
}

/** A query of which only the hits after the first `skip` are returned. */
export interface IndexPage extends IndexQuery {
  readonly skip: number;
}

/** A document that was found. */
export interface IndexMatch {
  /** The number of the document in its index. */
  readonly id: number;
  readonly title: string;
  readonly url: string;
  /** Null if the text is long. */
  readonly text: string | null;
  readonly date: string | null;
  readonly score: number;
}

export interface IndexHit extends Omit<IndexMatch, "text"> {
  readonly snippet: string;
}

/** Change this number with the tables or the ranking: shipped indexes are then rebuilt. */
export const INDEX_FORMAT = 1;

const WORDS_MAX = 32;
/** A longer text is shown by a part of it. */
const SNIPPET_CHARACTERS_MAX = 400;

// A match in the title weighs eight times as much as one in the text, a match in hidden keywords
// four times.
const TABLES = `
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    keywords TEXT NOT NULL,
    date TEXT,
    language TEXT,
    source TEXT NOT NULL
  );
  CREATE INDEX documents_by_source ON documents (source);
  CREATE INDEX documents_by_date ON documents (date) WHERE date IS NOT NULL;
  CREATE VIRTUAL TABLE terms USING fts5 (
    title, text, keywords,
    content = 'documents', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
  );
  INSERT INTO terms (terms, rank) VALUES ('rank', 'bm25(8.0, 1.0, 4.0)');
  CREATE TRIGGER document_added AFTER INSERT ON documents BEGIN
    INSERT INTO terms (rowid, title, text, keywords)
      VALUES (new.id, new.title, new.text, new.keywords);
  END;
  CREATE TRIGGER document_removed AFTER DELETE ON documents BEGIN
    INSERT INTO terms (terms, rowid, title, text, keywords)
      VALUES ('delete', old.id, old.title, old.text, old.keywords);
  END;`;

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an and are as at be by can do does for from has have how i in is it its me my of on or " +
    "that the their there these they this to was we were what when where which who why will " +
    "with you your"
  ).split(" "),
);

/** Creates the tables in an empty database. */
export function createIndexTables(db: Database): void {
  db.run(TABLES);
}

/** Adds documents; a document replaces an older one with the same URL. */
export class IndexWriter {
  readonly #remove: (url: string) => unknown;
  readonly #insert: (document: IndexDocument, host: string, source: string) => unknown;

  constructor(readonly db: Database) {
    const remove = db.query("DELETE FROM documents WHERE url = ?");
    const insert = db.query(
      "INSERT INTO documents (url, host, title, text, keywords, date, language, source) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#remove = (url) => remove.run(url);
    this.#insert = ({ url, title, text, keywords, date, language }, host, source) =>
      insert.run(url, host, title, text, keywords, date, language, source);
  }

  /** `source` names the source of the document. */
  add(document: IndexDocument, source: string): void {
    this.#remove(document.url);
    this.#insert(document, new URL(document.url).hostname, source);
  }

  /** Adds documents in one transaction. */
  addAll(documents: Iterable<IndexDocument>, source: string): void {
    this.db.transaction(() => {
      for (const document of documents) this.add(document, source);
    })();
  }
}

const SHORT_TEXT = `CASE WHEN length(text) <= ${SNIPPET_CHARACTERS_MAX} THEN text END`;

/** Searches an index. */
export class SearchIndex {
  constructor(readonly db: Database) {}

  /** The best matching documents, best first. */
  search(query: IndexQuery): IndexMatch[] {
    const match = matchOf(query.query);
    if (match === null) return [];
    const { where, values } = filtersOf(query);
    // Only filters must join every document that has a word of the query.
    const filtered = where === "" ? "" : "JOIN documents d ON d.id = terms.rowid";
    return this.db
      .query<IndexMatch, (string | number)[]>(
        `SELECT documents.id, title, url, ${SHORT_TEXT} AS text, date, -score AS score FROM ` +
          `(SELECT terms.rowid AS best, rank AS score FROM terms ${filtered} ` +
          `WHERE terms MATCH ?${where} ORDER BY rank LIMIT ?) ` +
          "JOIN documents ON documents.id = best ORDER BY score DESC",
      )
      .all(match, ...values, query.limit);
  }

  /** Returns the hit for a match of this query. */
  hitOf({ text, ...match }: IndexMatch, { query }: Pick<IndexQuery, "query">): IndexHit {
    return { ...match, snippet: text ?? this.#excerpt(matchOf(query) ?? "", match.id) };
  }

  /** Returns the number of documents that match. */
  count(match: string): number {
    const count = "SELECT count(*) AS n FROM terms WHERE terms MATCH ?";
    return this.db.query<{ n: number }, [string]>(count).get(match)?.n ?? 0;
  }

  /** Returns the scores of these documents for a match; omits those without a match. */
  scoresOf(match: string, ids: readonly number[]): { id: number; score: number }[] {
    return this.db
      .query<{ id: number; score: number }, [string, string]>(
        "SELECT rowid AS id, -rank AS score FROM terms " +
          "WHERE terms MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
      )
      .all(match, JSON.stringify(ids));
  }

  /** True if any document has a date. */
  get hasDates(): boolean {
    const first = "SELECT 1 FROM documents WHERE date IS NOT NULL LIMIT 1";
    return this.db.query(first).get() !== null;
  }

  /** At least the number of documents; reading it does not count them. */
  get idMax(): number {
    const most = "SELECT max(id) AS id FROM documents";
    return this.db.query<{ id: number | null }, []>(most).get()?.id ?? 0;
  }

  get size(): number {
    return this.db.query<{ n: number }, []>("SELECT count(*) AS n FROM documents").get()?.n ?? 0;
  }

  #excerpt(match: string, id: number): string {
    const marked = this.db
      .query<{ text: string }, [string, string, string, number]>(
        "SELECT highlight(terms, 1, ?, ?) AS text FROM terms WHERE terms MATCH ? AND rowid = ?",
      )
      .get(MATCH_START, MATCH_END, match, id);
    return marked === null ? "" : excerptOf(marked.text);
  }
}

/** An FTS5 query of quoted words, so nothing in it is an operator. */
export function matchOf(query: string): string | null {
  const matches = matchesOf(query);
  return matches.length === 0 ? null : matches.join(" OR ");
}

/**
 * The words of a query, each once and quoted. Stop words are used only if there are no others. The
 * last element is all words as one phrase: it is rarer than any word, so documents with it come
 * first.
 */
export function matchesOf(query: string): string[] {
  const tokens = query.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const all = [...new Set(tokens)];
  const significant = all.filter((word) => !STOP_WORDS.has(word));
  const words = (significant.length > 0 ? significant : all).slice(0, WORDS_MAX);
  const phrase = tokens.length > 1 ? [tokens.slice(0, WORDS_MAX).join(" ")] : [];
  return [...words, ...phrase].map((text) => `"${text}"`);
}

function filtersOf(query: IndexQuery): { where: string; values: string[] } {
  const conditions: string[] = [];
  const values: string[] = [];
  const below = (domain: string) => {
    values.push(domain, `.${domain}`);
    return "(d.host = ? OR instr(d.host || '/', ? || '/') > 0)";
  };
  const { language, since, includeDomains, excludeDomains } = query;
  if (includeDomains.length > 0) conditions.push(`(${includeDomains.map(below).join(" OR ")})`);
  for (const domain of excludeDomains) conditions.push(`NOT ${below(domain)}`);
  if (language !== null) {
    conditions.push("d.language = ?");
    values.push(language);
  }
  if (since !== null) {
    conditions.push("d.date >= ?");
    values.push(since);
  }
  return { where: conditions.map((condition) => ` AND ${condition}`).join(""), values };
}

/** A document from checked parts; `language` may be a tag such as en-GB. */
export function documentOf(
  url: URL,
  given: { readonly title: string; readonly text: string; readonly keywords?: string },
  more: { readonly date?: string | null; readonly language?: string | null } = {},
): IndexDocument {
  const language = /^[a-z]{2}(?![a-z])/i.exec(more.language ?? "")?.[0].toLowerCase() ?? null;
  return {
    url: url.href,
    title: given.title || sourceOf(url),
    text: given.text,
    keywords: given.keywords ?? "",
    date: more.date ?? null,
    language,
  };
}
