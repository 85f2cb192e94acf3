// Counts tokens for calls whose upstream reported no usage. Text is tokenised late and in large
// pieces, never chunk by chunk.

import { type TokenUsage, withOutput } from "../../../core/money/usage.ts";
import type { ChatBatch, ChatDelta, ChatReply, ChatUsage } from "../protocols/provider.ts";
import { countedPrompt, type SentPrompt } from "./prompt-usage.ts";
import type { TokenCounter } from "./token-counter.ts";

/** A delta with at most this many characters is one piece; a longer one has more. */
const PIECE_LENGTH_MAX = 8;
/** The characters of a piece in a longer delta: the length of a token of English prose. */
const PIECE_LENGTH = 4;
/** Text without a safe place to cut is kept up to this length, then cut anywhere. */
const UNCUT_LENGTH_MAX = 1024;
/** The last characters of such a text may become fewer tokens once more text follows. */
const OPEN_END = 16;

const ENDS_IN_SPACE = /\S $/;

/** The usage of a complete reply, counted by our tokenizer. */
export async function countUsage(
  tokens: TokenCounter,
  account: string,
  { reply, ...prompt }: SentPrompt & { readonly reply: ChatReply },
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
  const [prompted, completionTokens] = await Promise.all([
    countedPrompt(tokens, account, prompt),
    tokens.countTexts(account, texts.map(withoutLastSpace)),
  ]);
  const images = reply.choices.reduce((sum, { message }) => sum + (message.images?.length ?? 0), 0);
  return withOutput(prompted, completionTokens, images * (prompt.model.imageTokens ?? 0));
}

export interface TextCounter {
  /** Returns the number of tokens of a text. */
  count(text: string): Promise<number>;
}

/** Counts the tokens of streamed text. Counts may run at the same time. */
export class TokenMeter {
  readonly #counter: TextCounter;
  #pending = "";
  /** The tokens counted so far. */
  #counted: number | Promise<number> = 0;
  #pendingPieces = 0;
  #countedPieces = 0;
  readonly #tokensOfImage: number;
  /** The tokens of the images that were sent, each as large as the model gives them. */
  imageTokens = 0;
  /** True once a token was sent to the client. */
  started = false;

  constructor(counter: TextCounter, tokensOfImage = 0) {
    this.#counter = counter;
    this.#tokensOfImage = tokensOfImage;
  }

  /** Adds the text of deltas that were sent to the client. */
  add(deltas: readonly ChatDelta[]): void {
    for (const delta of deltas) {
      const text = deltaText(delta);
      this.#pending += text;
      this.#pendingPieces += piecesOf(text);
      const { images } = delta.delta;
      if (Array.isArray(images)) this.#addImages(images.length);
    }
    this.started ||= this.#pending !== "";
  }

  /** A token of an image is a piece of its own. */
  #addImages(count: number): void {
    this.imageTokens += count * this.#tokensOfImage;
    this.#countedPieces += count * this.#tokensOfImage;
    this.started = true;
  }

  /** Characters that were not counted yet. */
  get uncounted(): number {
    return this.#pending.length;
  }

  /** The pieces of the text that was not counted yet. */
  get uncountedPieces(): number {
    return this.#pendingPieces;
  }

  /** The pieces of the text that was counted, or is being counted. */
  get countedPieces(): number {
    return this.#countedPieces;
  }

  /** All pieces until now. */
  get pieces(): number {
    return this.#countedPieces + this.#pendingPieces;
  }

  /** The tokens up to the last safe place to cut; never more than were streamed. */
  settledTokens(): Promise<number> {
    return this.#countTo(cutOf(this.#pending));
  }

  /** A lower bound of all tokens so far. Text without a place to cut is counted again later. */
  async tokensSoFar(): Promise<number> {
    const settled = this.settledTokens();
    const uncut = this.#pending.slice(0, -OPEN_END);
    return uncut === "" ? settled : (await settled) + (await this.#counter.count(uncut));
  }

  /** The tokens of a reply that ends here. */
  outputTokens(): Promise<number> {
    return this.#countTo(withoutLastSpace(this.#pending).length);
  }

  #countTo(end: number): Promise<number> {
    const text = this.#pending.slice(0, end);
    if (text === "") return Promise.resolve(this.#counted);
    this.#pending = this.#pending.slice(end);
    const pieces = piecesOf(this.#pending);
    this.#countedPieces += this.#pendingPieces - pieces;
    this.#pendingPieces = pieces;
    const counted = Promise.all([this.#counted, this.#counter.count(text)]).then(
      ([before, tokens]) => before + tokens,
    );
    this.#counted = counted;
    return counted;
  }
}

/**
 * A text without a single space at its end. To a tokenizer such a space is the start of the next
 * word; without that word the space would be a token that no model wrote.
 */
function withoutLastSpace(text: string): string {
  return ENDS_IN_SPACE.test(text) ? text.slice(0, -1) : text;
}

/** Estimates the tokens of a text that came in one delta. */
export function piecesOf({ length }: string): number {
  return length > PIECE_LENGTH_MAX ? length / PIECE_LENGTH : Math.min(1, length);
}

/** True if a delta has a part of the reply. */
export function hasOutput({ delta }: ChatDelta): boolean {
  const { content, refusal, tool_calls, reasoning_content, images } = delta;
  return Boolean(content || refusal || tool_calls || reasoning_content || images);
}

/**
 * The usage that counts after a batch: a usage is out of date once more of the reply follows it.
 */
export function usageAfter(
  before: ChatUsage | null,
  { usage, deltas }: ChatBatch,
): ChatUsage | null {
  if (usage !== null || before === null) return usage;
  return deltas.some(hasOutput) ? null : before;
}

/** The text of a delta that costs output tokens. */
export function deltaText({ delta }: ChatDelta): string {
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

// Tokenizers split before a single space between two words, so a cut there does not change the
// count.
function cutOf(text: string): number {
  for (let at = text.lastIndexOf(" "); at > 0; at = text.lastIndexOf(" ", at - 1)) {
    if (isNonSpace(text, at - 1) && isNonSpace(text, at + 1)) return at;
  }
  return text.length > UNCUT_LENGTH_MAX ? text.length : 0;
}

function isNonSpace(text: string, at: number): boolean {
  return text.charAt(at).trim() !== "";
}
