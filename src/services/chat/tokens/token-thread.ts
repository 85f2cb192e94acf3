// The thread that counts tokens, so that long prompts do not hold up the thread that serves
// requests.

import { serveThread } from "../../../upstream/thread-server.ts";
import type { TextsToCount } from "./token-counter.ts";
import { countTokens, loadTokenizer } from "./tokens.ts";

serveThread<null, TextsToCount, readonly number[]>(() => {
  loadTokenizer();
  return (jobs) => jobs.map((texts) => texts.reduce((sum, text) => sum + countTokens(text), 0));
});
