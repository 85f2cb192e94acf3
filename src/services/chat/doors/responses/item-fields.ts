// The fields that items of Responses share.

import { anyObject, optional, shortText, text } from "../../../../http/schema.ts";

/** The most parts of an item. */
export const PARTS_MAX = 1_024;
const CALL_ID_CHARACTERS_MAX = 16_384;

export const itemId = optional(
  text({ description: "As the reply had it, or any other; not needed" }),
);
export const status = optional(text());
export const callId = shortText(CALL_ID_CHARACTERS_MAX, {
  description: "Joins a call and its output",
});
export const caller = optional(
  anyObject({ description: "Who called: the model, or a program of its provider" }),
);
