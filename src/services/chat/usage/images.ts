// Usage in replies with images of OpenAI's models that bill by tokens.

import { isObject, type Json } from "../../../core/text/json.ts";
import { countIn, differs, plainUsage, type UsageForm } from "./reply-usage.ts";

export interface LastOfImages {
  readonly usage: Json | null;
}

export const images: UsageForm<LastOfImages> = {
  none: { usage: null },
  fold: (before, { usage }) => (isObject(usage) ? { usage } : before),
  read({ usage }, sent) {
    if (usage === null) return null;
    const input = countIn(usage, "input_tokens");
    const output = countIn(usage, "output_tokens");
    const imageIn = countIn(usage.input_tokens_details, "image_tokens");
    const text = countIn(usage.output_tokens_details, "text_tokens");
    const parts = { uncached: input - imageIn, imageIn, text, imageOut: output - text };
    return plainUsage(parts, sent, { isWrong: differs(usage.total_tokens, input + output) });
  },
};
