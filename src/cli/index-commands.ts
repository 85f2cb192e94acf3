// The operator's own documents in the embedded search index; a running Farebox finds them at once.

import { resolve } from "node:path";
import { AdministrationError } from "../core/errors.ts";
import { DocumentError } from "../services/search/providers/document-files.ts";
import {
  type SourceOptions,
  sourceDocuments,
} from "../services/search/providers/document-source.ts";
import {
  listSources,
  openForWriting,
  removeSource,
  replaceSource,
} from "../services/search/providers/own-documents.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import { table } from "./print.ts";
import { nameAmong } from "./values.ts";

const PAGES_DEFAULT = 1_000;
const PAGES_MAX = 50_000;
const SKIPPED_SHOWN = 10;

const add: Command = {
  name: "index add",
  comparesSecrets: false,
  words: ["FILE.jsonl|SITEMAP|FOLDER"],
  summary: "Search these documents too; what came from the same place before is replaced",
  options: {
    "base-url": { value: "URL", help: "where the files of a folder are found" },
    pages: { value: "N", help: `the most pages of a sitemap (${PAGES_DEFAULT})` },
    private: { value: "allow", help: "fetch from this machine and its network as well" },
  },
  plan(input) {
    const source = sourceOf(input);
    const options = { baseUrl: baseUrlOf(input), pagesMax: pagesOf(input) };
    const allowPrivate = nameAmong(["allow"], input.values.get("private")) !== undefined;
    if (input.values.has("private") && !allowPrivate) {
      throw new UsageError("--private must be 'allow'");
    }
    return async ({ dataDirectory, warn }) => {
      const skipped: string[] = [];
      const onSkipped = (url: string, reason: string) => skipped.push(`${url}: ${reason}`);
      const { nowMs } = input;
      const given = { ...options, allowPrivate, nowMs, onSkipped };
      using db = openForWriting(dataDirectory);
      const documents = await replaced(db, source, given);
      for (const line of skipped.slice(0, SKIPPED_SHOWN)) warn(`Left out: ${line}`);
      const more = skipped.length - SKIPPED_SHOWN;
      if (more > 0) warn(`Left out: ${more} more`);
      return {
        json: { source, documents, skipped: skipped.length },
        text: `${documents} documents of ${source} can be found.`,
      };
    };
  },
};

const list: Command = {
  name: "index list",
  comparesSecrets: false,
  words: [],
  summary: "Show where the documents came from",
  options: {},
  plan: () => (stores) => {
    using db = openForWriting(stores.dataDirectory);
    const sources = listSources(db);
    const rows = sources.map(({ source, documents }) => [source, String(documents)]);
    const text = rows.length === 0 ? "There are none." : table([["source", "documents"], ...rows]);
    return Promise.resolve({ json: { sources }, text });
  },
};

const remove: Command = {
  name: "index remove",
  comparesSecrets: false,
  words: ["SOURCE"],
  summary: "Forget the documents of a source, as 'index list' names it",
  options: {},
  plan(input) {
    const source = input.words[0] ?? "";
    return (stores) => {
      using db = openForWriting(stores.dataDirectory);
      const documents = removeSource(db, source);
      if (documents === 0)
        throw new AdministrationError("not_found", `There are no documents of ${source}`);
      const text = `${documents} documents of ${source} are forgotten.`;
      return Promise.resolve({ json: { source, documents }, text });
    };
  },
};

async function replaced(
  db: ReturnType<typeof openForWriting>,
  source: string,
  options: SourceOptions,
): Promise<number> {
  try {
    const documents = await sourceDocuments(source, options);
    return await replaceSource(db, source, documents);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new AdministrationError("unreadable_documents", error.message);
  }
}

/** A URL as it is, a file or folder by its whole path. */
function sourceOf({ words }: Input): string {
  const word = words[0] ?? "";
  if (/^https?:\/\//i.test(word)) {
    if (!URL.canParse(word)) throw new UsageError(`'${word}' is not a URL`);
    return new URL(word).href;
  }
  return resolve(word);
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
