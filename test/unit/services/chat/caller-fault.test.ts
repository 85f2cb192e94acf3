// A server that refuses a request says why in many forms. Callers read its words, and can tell a
// full context from any other fault.

import { describe, expect, test } from "bun:test";
import { callerFault } from "../../../../src/services/chat/protocols/openai/caller-fault.ts";
import { providerAt } from "../../../support/api/chat-routes.ts";

const call = { provider: providerAt("http://nowhere.test/v1"), model: "m", publicId: "public" };
const faultOf = (body: unknown) =>
  callerFault(typeof body === "string" ? body : JSON.stringify(body), call);

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

test("words that no JSON has, or that are no text, are left out", () => {
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

  test("also where its words would tell whose it is", () => {
    const message = "fictional-ai: maximum context length is 8192 tokens";
    expect(faultOf({ error: { message } })).toMatchObject({
      code: "context_length_exceeded",
      message: "messages exceed the model's maximum context length",
    });
  });
});
