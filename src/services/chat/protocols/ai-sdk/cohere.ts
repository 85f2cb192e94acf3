// Cohere's chat.

import { cohere as cohereUsage } from "../../usage/cohere.ts";
import type { SdkForm } from "./sdk-form.ts";
import { rawReader } from "./sdk-usage.ts";

export const cohere: SdkForm = {
  optionsName: "cohere",
  extraName: "cohere",
  takesLaterSystem: true,
  metadata: {},
  async open({ provider, model }, fetch) {
    const { createCohere } = await import("@ai-sdk/cohere");
    const { baseUrl: baseURL, apiKey } = provider;
    return createCohere({ baseURL, apiKey: apiKey ?? "", fetch })(model);
  },
  usage: rawReader(cohereUsage, (usage) => ({ usage })),
  limitOf: ({ max_tokens }) => max_tokens,
};
