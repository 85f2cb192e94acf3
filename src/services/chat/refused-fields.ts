// The names of fields in refusals: each form of a request has its own for the prompt and for the
// limit of the output.

/** The names of two fields in the form of a request. */
export interface RefusedFields {
  readonly prompt: "messages" | "input" | "prompt" | "documents";
  readonly outputLimit: "max_tokens" | "max_output_tokens";
}

/** The fields of chat completions and of Messages. */
export const CHAT_FIELDS: RefusedFields = { prompt: "messages", outputLimit: "max_tokens" };

/** The fields of Responses. */
export const RESPONSES_FIELDS: RefusedFields = {
  prompt: "input",
  outputLimit: "max_output_tokens",
};

/** A field as the subject of this verb: "messages leave", "input leaves". */
export function fieldDoes(field: string, verb: string): string {
  return `${field} ${field.endsWith("s") ? verb : `${verb}s`}`;
}
