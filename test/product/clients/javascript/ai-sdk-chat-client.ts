// Checks the AI SDK with its provider for servers that are compatible with OpenAI.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { checkAiSdk } from "./ai-sdk-checks.ts";
import { SETTINGS } from "./checks.ts";

const { baseURL } = SETTINGS;

await checkAiSdk((apiKey, model) =>
  createOpenAICompatible({ name: "farebox", baseURL, apiKey })(model),
);
