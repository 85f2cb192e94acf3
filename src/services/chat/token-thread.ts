// The thread that counts tokens, so that long prompts do not hold up the thread that serves
// requests.

import type { TokenAnswer, TokenQuestion } from "./token-messages.ts";
import { countTokens } from "./tokens.ts";

declare const self: Worker & {
  onmessage: ((event: MessageEvent<TokenQuestion>) => void) | null;
};

self.onmessage = ({ data: { id, texts } }: MessageEvent<TokenQuestion>) => {
  // An error here ends the thread, and the other side starts another one.
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const answer: TokenAnswer = { id, tokens };
  self.postMessage(answer);
};
