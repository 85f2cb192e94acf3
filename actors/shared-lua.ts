// What scripts share, put before each by concatenation: only the parts that the script uses. Every
// run of a script makes each of its local functions anew, so a part that nobody calls costs time.

import limitsLua from "./lua/limits.lua" with { type: "text" };
import preludeLua from "./lua/prelude.lua" with { type: "text" };
import recordsLua from "./lua/records.lua" with { type: "text" };
import walletLua from "./lua/wallet.lua" with { type: "text" };

interface Part {
  readonly names: readonly string[];
  readonly text: string;
}

// A part is what stands between two empty lines; one with an empty line in it would be two.
const PARTS: readonly Part[] = [preludeLua, recordsLua, walletLua, limitsLua]
  .join("\n")
  .split(/\n\n(?=(?:--[^\n]*\n)*local )/)
  .map((text) => ({ names: namesOf(text), text }));

/** The source of a script with the shared parts that it uses, and that those use, before it. */
export function withShared(script: string): string {
  let source = script;
  // A part only ever uses parts before it, so one walk from the last to the first finds them all.
  for (const { names, text } of PARTS.toReversed()) {
    if (names.some((name) => new RegExp(`\\b${name}\\b`).test(source))) {
      source = `${text}\n\n${source}`;
    }
  }
  return source;
}

/** The names that a part defines. */
function namesOf(text: string): string[] {
  return [...text.matchAll(/^local (?:function )?([\w, \n]+?)(?: =|\()/gm)].flatMap(
    ([, names = ""]) => names.split(/[\s,]+/),
  );
}
