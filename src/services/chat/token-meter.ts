// Our own count of tokens, for calls whose upstream gave none. Text is tokenised late and in large
// pieces, never per chunk.

import type { TokenUsage } from "../../core/pricing.ts";
import type { ChatDelta, ChatReply, ChatRequest } from "./providers/provider.ts";
import type { TokenCounter } from "./token-counter.ts";
import { countTokens } from "./tokens.ts";

/** Without a place to cut, pending text is kept up to this length and then cut anywhere. */
const UNCUT_LENGTH_MAX = 16 * 1024;

/** Usage by our tokenizer of a reply that came whole. */
export async function countUsage(
  tokens: TokenCounter,
  account: string,
  { request, reply }: { readonly request: ChatRequest; readonly reply: ChatReply },
): Promise<TokenUsage> {
  const texts = reply.choices.flatMap(({ message }) => [
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

/** Counts the tokens of text that was streamed. */
export class TokenMeter {
  #counted = 0;
  #pending = "";

  /** Takes in the text of deltas that the client has been sent. */
  add(deltas: readonly ChatDelta[]): void {
    for (const delta of deltas) this.#pending += textOf(delta);
  }

  /** True once the client has been sent a token. */
  get started(): boolean {
    return this.#counted > 0 || this.#pending !== "";
  }

  /** Tokens up to the last place where a cut changes nothing; never more than were streamed. */
  settledTokens(): number {
    const cut = cutOf(this.#pending);
    if (cut > 0) {
      this.#counted += countTokens(this.#pending.slice(0, cut));
      this.#pending = this.#pending.slice(cut);
    }
    return this.#counted;
  }

  /** All tokens so far. */
  tokens(): number {
    this.#counted += countTokens(this.#pending);
    this.#pending = "";
    return this.#counted;
  }
}

/** The text of a delta that costs output tokens. */
export function textOf({ delta }: ChatDelta): string {
  let text = typeof delta.content === "string" ? delta.content : "";
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
