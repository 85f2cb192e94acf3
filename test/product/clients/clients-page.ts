// Reads the settings that docs/clients.md has for people, with the address of a product in them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";

/** The placeholders of the page. */
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

export interface PageSection {
  /** Names and contents of the files that a person writes. */
  readonly files: readonly (readonly [string, string])[];
  /** The command that a person types; null without one. */
  readonly command: string | null;
  /** The programs, without the name of a file. */
  readonly programs: readonly string[];
}

/** The section of a client, for this product. */
export function sectionOf(name: string, { url, key, model }: PageSettings): PageSection {
  const page = readFileSync(join(PROJECT, "docs/clients.md"), "utf8");
  const section = page.split(/^## /m).find((one) => one.startsWith(`${name}\n`));
  if (section === undefined) throw new Error(`docs/clients.md has no section '${name}'`);
  const text = section
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
