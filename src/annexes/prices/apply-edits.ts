// Changes single values in the text of a configuration, and keeps everything else as it is written:
// comments, order, spaces.

import { applyEdits, modify } from "jsonc-parser";
import type { PriceEdit } from "./price-merge.ts";

/** The text with the changes. */
export function withEdits(text: string, edits: readonly PriceEdit[]): string {
  const formattingOptions = formatOf(text);
  return edits.reduce((all, { path, value, inserts = false }) => {
    const options = { formattingOptions, isArrayInsertion: inserts };
    return applyEdits(all, modify(all, [...path], value, options));
  }, text);
}

/** Indents new lines as the file does. */
function formatOf(text: string) {
  const [, indent = "  "] = /\n([ \t]+)\S/.exec(text) ?? [];
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}
