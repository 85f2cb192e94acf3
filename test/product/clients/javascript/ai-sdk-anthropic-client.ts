// Checks the AI SDK with its provider for Anthropic, which speaks Messages.

import { createAnthropic } from "@ai-sdk/anthropic";
import { checkAiSdk } from "./ai-sdk-checks.ts";
import { SETTINGS } from "./checks.ts";

const { baseURL } = SETTINGS;

await checkAiSdk((apiKey, model) => createAnthropic({ baseURL, apiKey })(model));
