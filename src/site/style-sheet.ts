// The styles of the pages for visitors.

import { readFileSync } from "node:fs";
import type { Brand } from "../core/brand/brand.ts";
import { accentRule } from "../core/brand/page-parts.ts";

const SITE_SHEET = new URL("./site.css", import.meta.url);

/** The styles of a page: those of all pages, and its own, in the colours of the brand. */
export function styleSheet(own: URL, brand: Brand): string {
  const sheets = [SITE_SHEET, own].map((file) => readFileSync(file, "utf8")).join("");
  return `${accentRule(brand)}${sheets.replaceAll(/\s*\n\s*/g, "\n")}`;
}
