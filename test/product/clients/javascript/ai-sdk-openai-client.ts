// Checks the AI SDK with its provider for OpenAI, whose default is Responses.

import { createOpenAI } from "@ai-sdk/openai";
import { checkAiSdk } from "./ai-sdk-checks.ts";
import { SETTINGS } from "./checks.ts";

const { baseURL } = SETTINGS;

await checkAiSdk((apiKey, model) => createOpenAI({ baseURL, apiKey })(model));
