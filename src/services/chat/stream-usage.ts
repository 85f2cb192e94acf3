// The tokens of a streamed call: by the upstream's word, or by our own count.

import type { ChatRequest, ChatUsage } from "./providers/provider.ts";
import type { TokenCounter } from "./token-counter.ts";
import { TokenMeter } from "./token-meter.ts";

export interface StreamUsageParts {
  readonly tokens: TokenCounter;
  readonly account: string;
  readonly request: ChatRequest;
}

export class StreamUsage {
  readonly #parts: StreamUsageParts;
  #promptTokens: Promise<number> | null = null;
  /** What the client has been sent. */
  readonly meter: TokenMeter;
  /** What the upstream said last; null if it said nothing. */
  reported: ChatUsage | null = null;

  constructor(parts: StreamUsageParts) {
    const { tokens, account } = parts;
    this.#parts = parts;
    this.meter = new TokenMeter((text) => tokens.countTexts(account, [text]));
  }

  /** Of the whole reply. */
  async whole(): Promise<ChatUsage> {
    if (this.reported !== null) return this.reported;
    return this.#counted(await this.meter.tokens());
  }

  /** What was sent of a reply that broke off; null before its first token, which is free. */
  async streamed(): Promise<ChatUsage | null> {
    if (!this.meter.started) return null;
    const completionTokens = await this.meter.tokens();
    if (this.reported === null) return this.#counted(completionTokens);
    return {
      ...this.reported,
      completionTokens: Math.min(completionTokens, this.reported.completionTokens),
    };
  }

  /** What was sent until now, at least. */
  async settled(): Promise<ChatUsage> {
    const completionTokens = await this.meter.settledTokens();
    const { promptTokens } = await this.prompt();
    return { promptTokens, cachedTokens: 0, completionTokens };
  }

  async prompt(): Promise<Pick<ChatUsage, "promptTokens" | "cachedTokens">> {
    if (this.reported !== null) {
      const { promptTokens, cachedTokens } = this.reported;
      return { promptTokens, cachedTokens };
    }
    const { tokens, account, request } = this.#parts;
    this.#promptTokens ??= tokens.countPrompt(account, request);
    return { promptTokens: await this.#promptTokens, cachedTokens: 0 };
  }

  async #counted(completionTokens: number): Promise<ChatUsage> {
    return { ...(await this.prompt()), completionTokens };
  }
}
