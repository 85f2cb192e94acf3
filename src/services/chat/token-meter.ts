// Our own count of tokens, for calls whose upstream gave none. Text is tokenised late and in large
// pieces, never per chunk.

import type { TokenUsage } from "../../core/pricing.ts";
import type { ChatDelta, ChatReply, ChatRequest } from "./providers/provider.ts";
import type { TokenCounter } from "./token-counter.ts";

/** Without a place to cut, pending text is kept up to this length and then cut anywhere. */
const UNCUT_LENGTH_MAX = 1024;

/** Usage by our tokenizer of a reply that came whole. */
export async function countUsage(
  tokens: TokenCounter,
  account: string,
  { request, reply }: { readonly request: ChatRequest; readonly reply: ChatReply },
): Promise<TokenUsage> {
  const texts = reply.choices.flatMap(({ message }) => [
    message.reasoning_content ?? "",
    message.content ?? "",
    message.refusal ?? "",
    ...(message.tool_calls ?? []).flatMap(({ function: called }) => [
      called.name,
      called.arguments,
    ]),
  ]);
  const [promptTokens, completionTokens] = await Promise.all([
    tokens.countPrompt(account, request),
    tokens.countTexts(account, texts),
  ]);
  return { promptTokens, cachedTokens: 0, completionTokens };
}

/** Counts the tokens of text that was streamed. Counts that overlap add up in their order. */
export class TokenMeter {
  readonly #count: (text: string) => Promise<number>;
  #pending = "";
  /** All that was counted so far. */
  #counted: Promise<number> = Promise.resolve(0);
  /** True once the client has been sent a token. */
  started = false;

  /** `count` says how many tokens a text has. */
  constructor(count: (text: string) => Promise<number>) {
    this.#count = count;
  }

  /** Takes in the text of deltas that the client has been sent. */
  add(deltas: readonly ChatDelta[]): void {
    for (const delta of deltas) this.#pending += textOf(delta);
    this.started ||= this.#pending !== "";
  }

  /** Characters that were not counted yet. */
  get uncounted(): number {
    return this.#pending.length;
  }

  /** Tokens up to the last place where a cut changes nothing; never more than were streamed. */
  settledTokens(): Promise<number> {
    return this.#countTo(cutOf(this.#pending));
  }

  /** All tokens so far. */
  tokens(): Promise<number> {
    return this.#countTo(this.#pending.length);
  }

  #countTo(end: number): Promise<number> {
    const text = this.#pending.slice(0, end);
    if (text === "") return this.#counted;
    this.#pending = this.#pending.slice(end);
    this.#counted = Promise.all([this.#counted, this.#count(text)]).then(
      ([before, tokens]) => before + tokens,
    );
    return this.#counted;
  }
}

/** The text of a delta that costs output tokens. */
export function textOf({ delta }: ChatDelta): string {
  let text = typeof delta.reasoning_content === "string" ? delta.reasoning_content : "";
  if (typeof delta.content === "string") text += delta.content;
  if (typeof delta.refusal === "string") text += delta.refusal;
  if (!Array.isArray(delta.tool_calls)) return text;
  for (const call of delta.tool_calls as readonly Partial<ToolCallDelta>[]) {
    text += (call.function?.name ?? "") + (call.function?.arguments ?? "");
  }
  return text;
}

interface ToolCallDelta {
  readonly function: { readonly name?: string; readonly arguments?: string };
}

// Tokenizers split before a single space between two words, so counts of the parts add up there.
function cutOf(text: string): number {
  for (let at = text.lastIndexOf(" "); at > 0; at = text.lastIndexOf(" ", at - 1)) {
    if (isInk(text, at - 1) && isInk(text, at + 1)) return at;
  }
  return text.length > UNCUT_LENGTH_MAX ? text.length : 0;
}

function isInk(text: string, at: number): boolean {
  return /\S/.test(text.charAt(at));
}
