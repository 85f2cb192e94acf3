// Usage in transcriptions of audio: by the second, or by tokens.

import { isObject, type Json } from "../../../core/text/json.ts";
import { countIn, differs, feesIn, plainUsage, type UsageForm } from "./reply-usage.ts";

export interface LastOfTranscription {
  readonly usage: Json | null;
}

export const transcription: UsageForm<LastOfTranscription> = {
  none: { usage: null },
  fold: (before, { usage }) => (isObject(usage) ? { usage } : before),
  read({ usage }, sent) {
    if (usage === null) return null;
    if (usage.type === "duration") {
      const seconds = Math.ceil(Number(usage.seconds));
      const isWrong = !Number.isSafeInteger(seconds) || seconds < 0;
      const fees = feesIn({ audio_second: isWrong ? 0 : seconds });
      return plainUsage({}, sent, { isWrong, fees });
    }
    const input = countIn(usage, "input_tokens");
    const output = countIn(usage, "output_tokens");
    const audioIn = countIn(usage.input_token_details, "audio_tokens");
    const parts = { uncached: input - audioIn, audioIn, text: output };
    return plainUsage(parts, sent, { isWrong: differs(usage.total_tokens, input + output) });
  },
};
