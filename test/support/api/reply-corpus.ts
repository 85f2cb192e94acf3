// Reads the replies of servers in test/unit/services/chat/corpus, and brings our own replies into a
// form in which the two compare.

import { readdirSync, readFileSync } from "node:fs";
import type {
  ChatBatch,
  ChatChoice,
  ChatReply,
  ChatUsage,
} from "../../../src/services/chat/protocols/provider.ts";

const FOLDER = new URL("../../unit/services/chat/corpus/", import.meta.url);

interface ExpectedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly extra_content?: object;
}

interface ExpectedReply {
  readonly text: string;
  readonly finish: string;
  /** Prompt, cached and output tokens to charge; null if Farebox counts them. */
  readonly usage: readonly [number, number, number] | null;
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly calls?: readonly ExpectedCall[];
}

interface CorpusFile {
  /** The place where the reply was seen, or the habit of its server. */
  readonly report: string;
  readonly showsReasoning?: boolean;
  /** Events as JSON, raw text, or a whole body in place of a stream. */
  readonly stream?: readonly (string | object)[];
  readonly whole?: unknown;
  readonly expect:
    | { readonly reply: ExpectedReply }
    /** No part reaches the caller: the next route is asked. */
    | { readonly next: true }
    /** The text that reached the caller before the stream broke off. */
    | { readonly broken: string };
}

export interface CorpusCase extends Omit<CorpusFile, "stream" | "whole"> {
  readonly name: string;
  readonly streamBytes: Uint8Array | null;
  readonly isWholeBody: boolean;
  readonly whole: string | null;
}

export function corpus(): CorpusCase[] {
  return readdirSync(FOLDER)
    .sort()
    .map((file) => {
      const { stream, whole, ...others } = JSON.parse(
        readFileSync(new URL(file, FOLDER), "utf8"),
      ) as CorpusFile;
      const text = stream?.map(eventOf).join("") ?? null;
      return {
        ...others,
        name: file.replace(".json", ""),
        streamBytes: text === null ? null : Buffer.from(text),
        isWholeBody: stream?.some(isBody) ?? false,
        whole:
          whole === undefined ? null : typeof whole === "string" ? whole : JSON.stringify(whole),
      };
    });
}

export function streamTypeOf({ isWholeBody }: CorpusCase): string {
  return isWholeBody ? "application/json" : "text/event-stream";
}

function eventOf(event: string | object): string {
  if (event === "[DONE]") return "data: [DONE]\n\n";
  if (typeof event === "string") return event;
  return isBody(event) ? JSON.stringify(event.body) : `data: ${JSON.stringify(event)}\n\n`;
}

function isBody(event: unknown): event is { readonly body: object } {
  return typeof event === "object" && event !== null && "body" in event;
}

/** A reply in the form that its caller gets. */
export interface CallersReply extends Required<Omit<ExpectedReply, "finish">> {
  readonly finish: string | null;
}

/** The reply that the caller must get. */
export function expectedOf({ expect: expected }: CorpusCase): CallersReply & { failed: boolean } {
  const nothing = { text: "", reasoning: "", refusal: "", calls: [], finish: null, usage: null };
  if ("next" in expected) return { failed: true, ...nothing };
  if ("broken" in expected) return { failed: true, ...nothing, text: expected.broken };
  return { failed: false, ...nothing, ...expected.reply };
}

interface Piece {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
  readonly extra_content?: object;
}

/** Assembles a stream as a strict client does. Throws where OpenAI's format is broken. */
export function assembled(batches: readonly ChatBatch[]): CallersReply {
  const reply = { text: "", reasoning: "", refusal: "" };
  const calls: { -readonly [Name in keyof ExpectedCall]: ExpectedCall[Name] }[] = [];
  let finish: string | null = null;
  for (const { delta, finish_reason } of batches.flatMap(({ deltas }) => deltas)) {
    if (finish !== null) throw new Error("Something follows the finish_reason");
    finish = finish_reason;
    reply.text += delta.content ?? "";
    reply.reasoning += delta.reasoning_content ?? "";
    reply.refusal += delta.refusal ?? "";
    for (const piece of (delta.tool_calls ?? []) as readonly Piece[]) addTo(calls, piece);
  }
  const usage = batches.findLast((batch) => batch.usage !== null)?.usage ?? null;
  return { ...reply, calls, finish, usage: countsOf(finish === null ? null : usage) };
}

function addTo(calls: unknown[], piece: Piece): void {
  const { index, id, type, extra_content } = piece;
  const { name, arguments: input } = piece.function;
  const extra = extra_content === undefined ? {} : { extra_content };
  const known = calls[index] as { arguments: string } | undefined;
  if (known === undefined) {
    if (index !== calls.length || !id || !name || type !== "function") {
      throw new Error(`A call begins with ${JSON.stringify(piece)}`);
    }
    calls.push({ id, name, arguments: input, ...extra });
  } else {
    if (id !== undefined || name !== undefined) throw new Error("A call has its id or name twice");
    Object.assign(known, { arguments: known.arguments + input }, extra);
  }
}

/** A whole reply in the form that its caller gets. */
export function replyOf({ choices, usage }: ChatReply): CallersReply {
  return { ...wholeOf(choices[0]), usage: countsOf(usage) };
}

/** The choice of a whole reply in the form that its caller gets. */
export function wholeOf(choice: ChatChoice | undefined): Omit<CallersReply, "usage"> {
  const { content, reasoning_content = "", refusal = "", tool_calls = [] } = choice?.message ?? {};
  const calls = tool_calls.map(({ id, function: called, extra_content }) => ({
    id,
    ...called,
    ...(extra_content !== undefined && { extra_content }),
  }));
  const reply = { text: content ?? "", reasoning: reasoning_content, refusal, calls };
  return { ...reply, finish: choice?.finish_reason ?? null };
}

function countsOf(usage: ChatUsage | null): ExpectedReply["usage"] {
  return usage && [usage.promptTokens, usage.cachedTokens, usage.completionTokens];
}
