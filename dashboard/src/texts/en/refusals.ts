// Refusals and failures in English: as the server says them.

import type { RefusalTexts } from "../refusal-texts.ts";

export const refusalTexts: RefusalTexts = {
  explanation: ({ explanation }) => explanation,
  message: (_, message) => message,
};
