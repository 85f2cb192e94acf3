// The token usage of a streamed call, reported by the upstream or counted by us.

import { type TokenUsage, withOutput } from "../../core/money/usage.ts";
import type { ChatBatch, ChatUsage } from "./protocols/provider.ts";
import type { UsageSource } from "./served-model.ts";
import { countedPrompt, type SentPrompt } from "./tokens/prompt-usage.ts";
import type { TokenCounter } from "./tokens/token-counter.ts";
import { type TextCounter, TokenMeter, usageAfter } from "./tokens/token-meter.ts";

export const NO_USAGE: ChatUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

export class StreamUsage implements TextCounter {
  readonly #tokens: TokenCounter;
  readonly #account: string;
  readonly #sent: SentPrompt;
  #prompt: Promise<TokenUsage> | null = null;
  /** Counts the text that was sent to the client. */
  readonly meter: TokenMeter;
  /**
   * The last usage that the upstream reported; null without a report, or if more of the reply
   * followed it.
   */
  reported: ChatUsage | null = null;
  #hasWrongUsage = false;
  #isOver = false;

  constructor(tokens: TokenCounter, account: string, sent: SentPrompt) {
    this.#tokens = tokens;
    this.#account = account;
    this.#sent = sent;
    this.meter = new TokenMeter(this, sent.model.imageTokens);
  }

  count(text: string): Promise<number> {
    return this.#tokens.countTexts(this.#account, [text]);
  }

  /** Takes the usage in a batch, if it has one. */
  take(batch: ChatBatch): void {
    this.reported = usageAfter(this.reported, batch);
    if (batch.hasWrongUsage === true) this.#hasWrongUsage = true;
  }

  /** The reason why our own count decides; undefined if the reported usage decides. */
  get source(): UsageSource {
    if (this.reported !== null) return undefined;
    return this.#hasWrongUsage ? "contradicted" : "counted";
  }

  /** The usage of the complete reply. */
  async whole(): Promise<ChatUsage> {
    if (this.reported !== null) return this.reported;
    return this.#counted(await this.meter.outputTokens());
  }

  /** The usage of a reply that broke off; null before the first token, when the call is free. */
  async streamed(): Promise<ChatUsage | null> {
    if (!this.meter.started) return null;
    const text = await this.meter.outputTokens();
    if (this.reported === null) return this.#counted(text);
    const { more: _, pieces, ...reported } = this.reported;
    const { output, images } = this.#delivered(text, this.reported);
    // The output is cut, and no piece says which of its tokens were delivered.
    if (pieces !== undefined && output === reported.completionTokens) return this.reported;
    return { ...reported, ...withOutput(this.reported, output - images, images) };
  }

  /** A lower bound of the usage until now. */
  async soFar(): Promise<ChatUsage> {
    const text = await this.meter.tokensSoFar();
    if (this.reported === null) return this.#counted(text);
    const { promptTokens } = this.reported;
    const { output, images } = this.#delivered(text, this.reported);
    return withOutput({ promptTokens, cachedTokens: 0 }, output - images, images);
  }

  /**
   * The delivered part of a reported output. Images count as much as was reported for them, which
   * may be less than the model's largest.
   */
  #delivered(text: number, { more = {}, completionTokens }: ChatUsage) {
    const { imageTokens } = this.meter;
    const given = Math.min(imageTokens, more.imageOut ?? imageTokens);
    const output = Math.min(text + given, completionTokens);
    return { output, images: Math.min(given, more.imageOut ?? 0, output) };
  }

  /** The tokens of the prompt. */
  async prompt(): Promise<Omit<TokenUsage, "completionTokens">> {
    if (this.reported !== null) return withOutput(this.reported, 0);
    this.#prompt ??= countedPrompt(this.#tokens, this.#account, {
      ...this.#sent,
      isWanted: () => !this.#isOver,
    });
    return this.#prompt;
  }

  /** Gives up a count of the prompt that is under way, because the cost of the stream is known. */
  end(): void {
    this.#isOver = true;
  }

  async #counted(text: number): Promise<ChatUsage> {
    return withOutput(await this.prompt(), text, this.meter.imageTokens);
  }
}
