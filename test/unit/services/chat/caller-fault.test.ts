// Tests that callers get the server's words, and a code that distinguishes a full context from any
// other fault. Servers name the reason of a refusal in many forms.

import { describe, expect, test } from "bun:test";
import { jsonOrNull } from "../../../../src/core/text/json.ts";
import { callerFault } from "../../../../src/services/chat/protocols/openai/caller-fault.ts";
import { readError } from "../../../../src/services/chat/protocols/openai/reply-error.ts";
import { providerAt } from "../../../support/api/chat-routes.ts";

const call = { provider: providerAt("http://nowhere.test/v1"), model: "m", publicId: "public" };
const faultOf = (body: unknown) =>
  callerFault(readError(typeof body === "string" ? jsonOrNull(body) : body), call);

const WORDS = "stop must have at most 4 entries";

describe("the words of a refusal are read", () => {
  for (const body of [
    { error: { message: WORDS, type: "invalid_request_error" } },
    [{ error: { code: 400, message: WORDS, status: "INVALID_ARGUMENT" } }],
    { error: WORDS },
    { error: WORDS, error_type: "validation" },
    { object: "error", message: WORDS, type: "BadRequestError", code: 400 },
    { code: "InvalidParameter", message: WORDS, request_id: "r" },
    { detail: WORDS },
    { detail: [{ loc: ["body", "stop"], msg: WORDS, type: "value_error" }] },
    { success: false, errors: [{ code: 5006, message: WORDS }], messages: [] },
    { base_resp: { status_code: 2013, status_msg: WORDS } },
    { error_code: 336, error_msg: WORDS },
    { message: WORDS },
  ]) {
    test(JSON.stringify(body), () => {
      expect(faultOf(body)).toMatchObject({
        code: "invalid_parameter",
        message: `The model did not accept this request: ${WORDS}`,
      });
    });
  }
});

test("a body that is not JSON, or has no text, adds nothing to the message", () => {
  for (const body of ["", "<h1>Bad request</h1>", "[]", "null", { error: {} }, { error: [5] }]) {
    expect(faultOf(body).message).toBe("The model did not accept this request");
  }
});

describe("a full context keeps its kind", () => {
  const full = "This model's maximum context length is 8192 tokens, you asked for 9000";
  const cases: [unknown, string][] = [
    [{ error: { message: full, code: "context_length_exceeded" } }, full],
    [[{ error: { message: full, code: "context_length_exceeded" } }], full],
    [{ object: "error", message: full, type: "BadRequestError", code: 400 }, full],
    [{ error: full }, full],
    [{ error: { message: "Too much", code: "context_length_exceeded" } }, "Too much"],
    [
      { error: { code: 400, message: "Try less", type: "exceed_context_size_error", n_ctx: 4096 } },
      "Try less",
    ],
    [
      { error: { message: "the request exceeds the available context size" } },
      "the request exceeds the available context size",
    ],
    [{ error: { message: "prompt is too long: 9 > 8" } }, "prompt is too long: 9 > 8"],
  ];
  for (const [body, words] of cases) {
    test(JSON.stringify(body), () => {
      expect(faultOf(body)).toMatchObject({
        code: "context_length_exceeded",
        status: 400,
        param: "messages",
        message: `messages exceed the model's maximum context length: ${words}`,
      });
    });
  }

  test.each([
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 8000 `inputs` tokens",
    "`inputs` must have less than 4096 tokens. Given: 5000",
    "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
    "Range of input length should be [1, 129024]",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
    "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
    "tokens in request more than max tokens allowed",
    "Input exceeds the max input token limit",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "total tokens exceeds the model's max of 4096",
    "prompt token count of 130000 exceeds the limit of 128000",
    "Prompt has 256468 tokens, but the configured context size is 256000 tokens",
    "Prompt exceeds max length",
    "Request body too large for the model. Max size: 8000 tokens.",
  ])("%s", (message) => {
    expect(faultOf({ error: { message } })).toMatchObject({ code: "context_length_exceeded" });
  });

  test.each([
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
    "stop sequences exceed the limit of 4",
    "Tool names must have less than 64 characters",
    "temperature exceeds the maximum of 2",
    "Schema exceeds the maximum allowed nesting",
  ])("no other limit means a full context: %s", (message) => {
    expect(faultOf({ error: { message } })).toMatchObject({ code: "invalid_parameter" });
  });

  test("also if the server's words would reveal the server", () => {
    const message = "fictional-ai: maximum context length is 8192 tokens";
    expect(faultOf({ error: { message } })).toMatchObject({
      code: "context_length_exceeded",
      message: "messages exceed the model's maximum context length",
    });
  });
});
