// Lists whole replies of the API, each in one place for all tests: a new field of a reply is added
// here and in its schema.

import { expect } from "bun:test";

/** The usage of the scripted upstream, in the form that callers read. */
export const USAGE_JSON = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

interface CompletionTerms {
  readonly model: string;
  readonly content: string;
  /** The members besides the id of the request, and the cost of that usage. */
  readonly svc: object;
}

/** The chat completion of a request that the scripted upstream answered. */
export function completionReply(response: Response, { model, content, svc }: CompletionTerms) {
  return {
    id: expect.stringMatching(/^chatcmpl-[0-9A-Za-z]{22}$/),
    object: "chat.completion",
    created: expect.any(Number),
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: USAGE_JSON,
    svc: { request_id: response.headers.get("x-request-id"), cost_usd: 0.00002, ...svc },
  };
}

/** The test model in a list of models, with the fields that its surface adds. */
export function modelReply(fields: object = {}) {
  return {
    id: "test-model",
    object: "model",
    created: 0,
    owned_by: "tests",
    name: "Test model",
    svc: {
      label: "Test model",
      family: "test",
      pricing: { input_usd_per_m: 1, output_usd_per_m: 2, cached_input_usd_per_m: null },
      free_credit_eligible: true,
    },
    ...fields,
  };
}
