// The thread that counts tokens, so that long prompts do not hold up the thread that serves
// requests.

import { serveThread } from "../../upstream/thread-server.ts";
import { countTokens, loadTokenizer } from "./tokens.ts";

serveThread<null, readonly string[], number>(() => {
  loadTokenizer();
  return (texts) => texts.reduce((sum, text) => sum + countTokens(text), 0);
});
