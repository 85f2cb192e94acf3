// Reads documents from an operator's files: JSON lines, or a folder of texts.

import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { isObject, type Json, jsonOrNull } from "../../../../core/text/json.ts";
import { plain } from "../../../../core/text/markdown-passages.ts";
import { linesOfBytes, textOfBytes } from "../../../../core/text/text-bytes.ts";
import { pageUrl } from "../clean-result.ts";
import { plainText } from "../plain-text.ts";
import { dayOf } from "../result-date.ts";
import { htmlOfBytes, pageTextOf, TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX } from "./page-text.ts";
import { documentOf, type IndexDocument } from "./search-index.ts";

/** Documents that cannot be loaded; the message is for the operator. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
}

const FILE_BYTES_MAX = 16 * 1024 * 1024;
const FILES_MAX = 100_000;
const PAGES: ReadonlySet<string> = new Set([".html", ".htm"]);
const TEXTS: ReadonlySet<string> = new Set([".md", ".markdown", ".txt"]);

/** The documents of a file with a JSON object in each line; errors name the line. */
export async function* jsonLines(path: string, nowMs: number): AsyncGenerator<IndexDocument> {
  let number = 0;
  for await (const line of linesOfBytes(createReadStream(path))) {
    number += 1;
    if (line.trim() === "") continue;
    yield lineDocument(line, nowMs, (problem) => {
      throw new DocumentError(`${basename(path)} line ${number}: ${problem}`);
    });
  }
}

function lineDocument(
  line: string,
  nowMs: number,
  refuse: (problem: string) => never,
): IndexDocument {
  const fields = objectOf(line) ?? refuse("it is not a JSON object");
  const url = pageUrl(fields.url) ?? refuse("url must be an http or https URL");
  const text = (name: string) => {
    const value = fields[name] ?? "";
    return typeof value === "string" ? value : refuse(`${name} must be a string`);
  };
  const title = plainText(text("title"), TITLE_CHARACTERS_MAX);
  const body = plainText(text("text"), TEXT_CHARACTERS_MAX);
  if (title === "" && body === "") refuse("title and text must not both be empty");
  const date = text("date") === "" ? null : dayOf(text("date"), nowMs);
  if (text("date") !== "" && date === null) refuse("date must be a day such as 2026-11-21");
  return documentOf(url, { title, text: body }, { date, language: text("language") });
}

function objectOf(line: string): Json | null {
  const value = jsonOrNull(line);
  return isObject(value) ? value : null;
}

/** The texts and pages of a folder and its subfolders, under the URL at which they can be read. */
export async function* folderDocuments(
  folder: string,
  baseUrl: URL,
): AsyncGenerator<IndexDocument> {
  const base = baseUrl.href.endsWith("/") ? baseUrl : new URL(`${baseUrl.href}/`);
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && documentKindOf(entry.name) !== null)
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  if (files.length > FILES_MAX) {
    throw new DocumentError(`${folder} has ${files.length} texts; at most ${FILES_MAX} are taken`);
  }
  for (const file of files) {
    const { size } = await stat(file);
    if (size > FILE_BYTES_MAX) {
      throw new DocumentError(`${file} has ${size} bytes; at most ${FILE_BYTES_MAX} are taken`);
    }
    const path = relative(folder, file).split(sep).map(encodeURIComponent).join("/");
    yield fileDocument(await readFile(file), file, new URL(path, base));
  }
}

function documentKindOf(name: string): "page" | "text" | null {
  const extension = extname(name).toLowerCase();
  if (PAGES.has(extension)) return "page";
  return TEXTS.has(extension) ? "text" : null;
}

/** Line ends that some editors write in place of LF. */
const LINE_END = /\r\n?/g;
/** Separators of Unicode, which end no line in Markdown. */
const NO_LINE_END = /[\u0085\u2028\u2029]/g;

function fileDocument(bytes: Uint8Array, file: string, url: URL): IndexDocument {
  const name = basename(file, extname(file));
  if (documentKindOf(file) === "page") {
    const { title, text, language } = pageTextOf(htmlOfBytes(bytes));
    return documentOf(url, { title: title || name, text }, { language });
  }
  const content = textOfBytes(bytes).replace(LINE_END, "\n").replace(NO_LINE_END, " ");
  const heading = /^#{1,6}\s+(.+?)\s*#*$/m.exec(content)?.[1] ?? name;
  return documentOf(url, {
    title: plainText(plain(heading), TITLE_CHARACTERS_MAX),
    text: plainText(plain(content), TEXT_CHARACTERS_MAX),
  });
}
