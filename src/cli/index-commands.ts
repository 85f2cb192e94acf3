// Manages the operator's own documents in the embedded search index. Such documents are in
// Postgres; every running process searches them within seconds.

import { resolve } from "node:path";
import { AdministrationError } from "../core/errors.ts";
import { counted } from "../core/text/counted.ts";
import { DocumentError } from "../services/search/providers/embedded/document-files.ts";
import {
  type SourceOptions,
  sourceDocuments,
} from "../services/search/providers/embedded/document-source.ts";
import { withSpooled } from "../services/search/providers/embedded/document-spool.ts";
import { IndexedDocuments } from "../store/documents/indexed-documents.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import { table } from "./print.ts";
import { nameAmong } from "./values.ts";

const PAGES_DEFAULT = 1_000;
const PAGES_MAX = 50_000;
/** A key of a Postgres index cannot be longer. */
const SOURCE_CHARACTERS_MAX = 500;
const SKIPPED_LISTED_MAX = 10;

const add: Command = {
  name: "index add",
  positionals: ["FILE.jsonl|SITEMAP|FOLDER"],
  summary: "Add documents to the search index; replaces those of the same source",
  options: {
    "base-url": { value: "URL", help: "the URL under which the files of a folder are published" },
    pages: { value: "N", help: `the most pages to fetch from a sitemap (${PAGES_DEFAULT})` },
    private: { value: "allow", help: "also fetch from private addresses, such as this machine" },
  },
  prepare(input) {
    const source = documentSource(input);
    const options = { baseUrl: baseUrlOf(input), pagesMax: pagesOf(input) };
    const allowPrivate = nameAmong(["allow"], input.values.get("private")) !== undefined;
    if (input.values.has("private") && !allowPrivate) {
      throw new UsageError("--private must be 'allow'");
    }
    return async ({ database, warn }) => {
      const skipped: string[] = [];
      const onSkipped = (url: string, reason: string) => skipped.push(`${url}: ${reason}`);
      const { nowMs } = input;
      const given = { ...options, allowPrivate, nowMs, onSkipped };
      const documents = await replaced(new IndexedDocuments(database), source, given);
      for (const line of skipped.slice(0, SKIPPED_LISTED_MAX)) warn(`Skipped: ${line}`);
      const more = skipped.length - SKIPPED_LISTED_MAX;
      if (more > 0) warn(`Skipped: ${more} more`);
      return {
        json: { source, documents, skipped: skipped.length },
        text: `Added ${counted(documents, "document")} of ${source}.`,
      };
    };
  },
};

const list: Command = {
  name: "index list",
  positionals: [],
  summary: "List the sources of the documents in the search index",
  options: {},
  prepare:
    () =>
    async ({ database }) => {
      const sources = await new IndexedDocuments(database).counts();
      const rows = sources.map(({ source, documents }) => [source, String(documents)]);
      const text =
        rows.length === 0 ? "There are no sources." : table([["source", "documents"], ...rows]);
      return { json: { sources }, text };
    },
};

const remove: Command = {
  name: "index remove",
  positionals: ["SOURCE"],
  summary: "Remove the documents of a source, named as in 'index list' or as it was added",
  options: {},
  prepare(input) {
    const source = documentSource(input);
    return async ({ database }) => {
      const documents = await new IndexedDocuments(database).remove(source);
      if (documents === 0) {
        const none = `There are no documents of ${source}; 'farebox index list' names the sources`;
        throw new AdministrationError("not_found", none);
      }
      const text = `Removed ${counted(documents, "document")} of ${source}.`;
      return { json: { source, documents }, text };
    };
  },
};

async function replaced(
  documents: IndexedDocuments,
  source: string,
  options: SourceOptions,
): Promise<number> {
  try {
    const found = await sourceDocuments(source, options);
    return await withSpooled(found, (all) => documents.replace(source, all));
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new AdministrationError("unreadable_documents", error.message);
  }
}

/** A URL, or the absolute path of a file or folder. */
function documentSource({ positionals }: Input): string {
  const source = positionals[0] ?? "";
  if (source.length > SOURCE_CHARACTERS_MAX) {
    throw new UsageError(`A source has at most ${SOURCE_CHARACTERS_MAX} characters`);
  }
  if (/^https?:\/\//i.test(source)) {
    if (!URL.canParse(source)) throw new UsageError(`'${source}' is not a URL`);
    return new URL(source).href;
  }
  return resolve(source);
}

function baseUrlOf({ values }: Input): URL | null {
  const text = values.get("base-url");
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`--base-url must be an http or https URL, but is '${text}'`);
  }
  return url;
}

function pagesOf({ values }: Input): number {
  const text = values.get("pages") ?? String(PAGES_DEFAULT);
  const pages = Number(text);
  if (/^\d+$/.test(text) && pages >= 1 && pages <= PAGES_MAX) return pages;
  throw new UsageError(`--pages must be a whole number from 1 to ${PAGES_MAX}, but is '${text}'`);
}

export const indexCommands: readonly Command[] = [add, list, remove];
