// Reads the tool calls of a reply. Servers identify the calls of a stream in many ways: by an
// index, by an id, by a name, or only by the order. Callers get indexes that we count (D-570).

import { JSON_DEPTH_MAX, TOOL_CALL_EXTRA_CHARACTERS_MAX } from "../../../../core/access/limits.ts";
import { isObject, type Json } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";

const CALLS_MAX = 1024;
/**
 * Arguments that mean "no arguments". Some servers begin each call with them, and send the real
 * arguments later, which are then an object (D-570).
 */
const NO_INPUT = /^(?:null|\{\s*\}|\[\s*\])?\s*(?=\{|$)/;

const QUOTE = 0x22;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

/** A piece of a call, as a caller gets it. The first piece of a call has its id and name. */
export interface ToolCallPiece {
  readonly index: number;
  readonly id?: string;
  readonly type?: "function";
  readonly function: { readonly name?: string; readonly arguments: string };
  /** Data that the server needs again with the result, such as Gemini's thought signature. */
  readonly extra_content?: Json;
}

/** A piece of a call, as a server sends it. */
interface Piece {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly extra: Json | null;
}

/** A call of which at least one piece has come. */
class OpenCall {
  name = "";
  /** The arguments until now. */
  input = "";
  /** The index that the caller gets; null before the name of the call has come. */
  index: number | null = null;
  extra: Json | null = null;
  /** True if the server sent arguments that mean "no arguments". */
  wasEmpty = false;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** True once the arguments are a whole object. */
  isComplete = false;

  constructor(
    readonly serverIndex: number | null,
    public id: string,
  ) {}

  add(text: string): void {
    this.input += text;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === QUOTE) this.#isInText = !this.#isInText;
      else if (this.#isInText) this.#isEscaped = code === BACKSLASH;
      else if (code === BRACE || code === BRACKET) this.#depth += 1;
      else if (code === BRACE_END || code === BRACKET_END) {
        this.#depth -= 1;
        this.isComplete ||= this.#depth === 0;
      }
    }
  }
}

/** The tool calls of one reply. */
export class ToolCallReader {
  readonly #calls: OpenCall[] = [];
  readonly #ids = new Set<string>();
  /** The number of calls that were passed on to the caller. */
  count = 0;

  /** The pieces for the caller in the `tool_calls` of a message or delta. */
  read(value: unknown): ToolCallPiece[] {
    const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
    const end = Math.min(parts.length, CALLS_MAX);
    const pieces: ToolCallPiece[] = [];
    for (let at = 0; at < end; at += 1) {
      const part = parts[at];
      if (!isObject(part)) continue;
      const piece = pieceOf(part);
      // Pieces of one call do not come together.
      const isOther = at > 0 && piece.id === "" && piece.index === null && piece.name !== "";
      const read = this.#take(piece, isOther);
      if (read !== null) pieces.push(read);
    }
    return pieces;
  }

  /** The arguments of calls that got none: a call without parameters has an empty object. */
  end(): ToolCallPiece[] {
    const pieces: ToolCallPiece[] = [];
    for (const { index, input } of this.#calls) {
      if (index === null || input !== "") continue;
      pieces.push({ index, function: { arguments: "{}" } });
    }
    return pieces;
  }

  #take(piece: Piece, isOther: boolean): ToolCallPiece | null {
    const target = isOther ? undefined : this.#targetOf(piece);
    if (target !== undefined && isRepeated(piece, target)) return null;
    const isNew = target === undefined || beginsCall(piece, target);
    if (isNew && this.#calls.length >= CALLS_MAX) return null;
    const call = isNew ? new OpenCall(piece.index, piece.id) : target;
    if (isNew) this.#calls.push(call);
    const input = call.input === "" ? piece.input.trimStart().replace(NO_INPUT, "") : piece.input;
    call.wasEmpty ||= input === "" && piece.input !== "";
    call.add(input);
    if (call.index !== null) return continued(call.index, input, piece.extra);
    call.name = piece.name;
    call.id ||= piece.id;
    call.extra = piece.extra ?? call.extra;
    // A caller cannot use a call without a name. The name may come later.
    return call.name === "" ? null : this.#announced(call);
  }

  #announced(call: OpenCall): ToolCallPiece {
    const index = this.count;
    this.count += 1;
    call.index = index;
    const piece: ToolCallPiece = {
      index,
      id: this.#freeId(call.id, index),
      type: "function",
      function: { name: call.name, arguments: call.input },
    };
    return call.extra === null ? piece : { ...piece, extra_content: call.extra };
  }

  /** An id that is unique in the reply, which callers need to send the result of a call. */
  #freeId(id: string, index: number): string {
    let free = id === "" || this.#ids.has(id) ? `call_${index}` : id;
    while (this.#ids.has(free)) free += "_";
    this.#ids.add(free);
    return free;
  }

  /** The call that a piece may continue: the call of its id, else of its index, else the last. */
  #targetOf({ id, index, name }: Piece): OpenCall | undefined {
    const calls = this.#calls;
    const last = calls.at(-1);
    // Most pieces continue the last call; a call may have thousands of pieces.
    if (id === "" && name === "" && index === last?.serverIndex && !last.isComplete) return last;
    const byId = id === "" ? undefined : calls.findLast((call) => call.id === id);
    if (index === null) return byId ?? last;
    const byIndex = calls.findLast((call) => call.serverIndex === index);
    if (byId !== undefined && (byIndex === undefined ? name === "" : byIndex.id !== id)) {
      return byId;
    }
    // A server that continues whole arguments counts wrongly.
    if (name === "" && byIndex?.isComplete === true) return last;
    const isOther = byIndex === undefined && (name !== "" || id !== "");
    return isOther ? undefined : (byIndex ?? last);
  }
}

/** True if a piece that could continue a call begins another call instead. */
function beginsCall(piece: Piece, target: OpenCall): boolean {
  const { id, name, input } = piece;
  if (name === "") return false;
  const isOtherId = id !== "" && id !== target.id;
  if (target.name === "") return isOtherId && target.id !== "";
  if (isOtherId) return true;
  if (target.isComplete) return input.trim() !== "";
  const isEmpty = id === "" && target.input === "";
  return isEmpty && (name !== target.name || (target.wasEmpty && input.trim() !== ""));
}

/** True for a whole call that a server sends again. */
function isRepeated({ id, name, input }: Piece, target: OpenCall): boolean {
  if (id === "" || id !== target.id || name !== target.name) return false;
  return target.isComplete && input === target.input;
}

function continued(index: number, input: string, extra: Json | null): ToolCallPiece | null {
  if (input === "" && extra === null) return null;
  const piece = { index, function: { arguments: input } };
  return extra === null ? piece : { ...piece, extra_content: extra };
}

function pieceOf(from: Json): Piece {
  const called = isObject(from.function) ? from.function : from;
  const input = called.arguments ?? null;
  return {
    index: indexOf(from.index),
    id: typeof from.id === "string" ? from.id : "",
    name: typeof called.name === "string" ? called.name : "",
    input: input === null ? "" : textOfJson(input),
    extra: readExtra(from.extra_content),
  };
}

/** Some servers send a number as text. */
export function indexOf(value: unknown): number | null {
  const index = typeof value === "string" && /^\d{1,4}$/.test(value) ? Number(value) : value;
  return typeof index === "number" && Number.isInteger(index) && index >= 0 ? index : null;
}

function readExtra(value: unknown): Json | null {
  if (!isObject(value) || isDeeper(value, JSON_DEPTH_MAX)) return null;
  return JSON.stringify(value).length > TOOL_CALL_EXTRA_CHARACTERS_MAX ? null : value;
}

/** A text, or the JSON of an object that some servers send instead. Throws a RouteFailure. */
export function textOfJson(value: unknown): string {
  if (typeof value === "string") return value;
  // To write an object of thousands of levels takes up to half a second.
  if (isDeeper(value, JSON_DEPTH_MAX)) throw new RouteFailure("A value nests too deep");
  return JSON.stringify(value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}
