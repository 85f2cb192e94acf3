// Reads the settings that docs/clients/ has for people, with the address of a product in them.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";

const FOLDER = join(PROJECT, "docs/clients");

/** The placeholders of the pages. */
const PAGE_URL = "http://127.0.0.1:8080";
const PAGE_KEY = "svc_live_…";
const PAGE_MODEL = "swift-1";

const FENCE = /^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm;

/** The values that replace the placeholders. */
export interface PageSettings {
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

export interface ClientPage {
  /** Names and contents of the files that a person writes. */
  readonly files: readonly (readonly [string, string])[];
  /** The command that a person types; null without one. */
  readonly command: string | null;
  /** The programs, without the name of a file. */
  readonly programs: readonly string[];
}

/** The page of a client, for this product. */
export function clientPageOf(name: string, { url, key, model }: PageSettings): ClientPage {
  const pages = readdirSync(FOLDER).map((file) => readFileSync(join(FOLDER, file), "utf8"));
  const page = pages.find((one) => one.startsWith(`# Use it with ${name}\n`));
  if (page === undefined) throw new Error(`docs/clients/ has no page for '${name}'`);
  const text = page
    .replaceAll(PAGE_URL, url)
    .replaceAll(PAGE_KEY, key)
    .replaceAll(PAGE_MODEL, model);
  const blocks = [...text.matchAll(FENCE)].map(([, kind, file, body = ""]) => ({
    kind,
    file,
    body,
  }));
  return {
    files: blocks.flatMap(({ file, body }) => (file === undefined ? [] : [[file, body] as const])),
    command: blocks.find(({ kind, file }) => kind === "sh" && file === undefined)?.body ?? null,
    programs: blocks.flatMap(({ kind = "", body }) => (PROGRAMS.has(kind) ? [body] : [])),
  };
}

const PROGRAMS: ReadonlySet<string> = new Set(["js", "python"]);
