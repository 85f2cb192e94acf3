// Carries the data that a model's server needs again with a tool call, for which Messages and
// Responses have no field: as hidden thoughts right behind the call, which callers send back
// (D-677).

import { TOOL_CALL_EXTRA_CHARACTERS_MAX } from "../../../core/access/limits.ts";
import { isObject, type Json, jsonOrNull } from "../../../core/text/json.ts";
import { checkJsonShape } from "../../../http/body/json-shape.ts";

/** Servers of Anthropic's form never see such a block. */
const MARK = "farebox.1.";

/** The data of the block. */
export function sealedExtra(extra: Json): string {
  return MARK + Buffer.from(JSON.stringify(extra)).toString("base64url");
}

/** True for data that `sealedExtra` made. */
export function isSealed(data: string): boolean {
  return data.startsWith(MARK);
}

/**
 * The tool call's data; null if it is none, or too long. The data is a caller's, and not checked.
 * Throws `invalid_json` if it nests too deep.
 */
export function openedExtra(data: string): Json | null {
  if (data.length > 2 * TOOL_CALL_EXTRA_CHARACTERS_MAX) return null;
  const json = Buffer.from(data.slice(MARK.length), "base64url").toString();
  if (json.length > TOOL_CALL_EXTRA_CHARACTERS_MAX) return null;
  // The extra content may nest deeper than the body that had it.
  checkJsonShape(json);
  const opened = jsonOrNull(json);
  return isObject(opened) ? opened : null;
}
