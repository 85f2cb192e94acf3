// Tests that every server's word for the end of a reply becomes one of OpenAI's.

import { describe, expect, test } from "bun:test";
import { ReplyReader } from "../../../../src/services/chat/protocols/openai/reply-reader.ts";
import { readWholeReply } from "../../../../src/services/chat/protocols/openai/whole-reply.ts";
import { RouteFailure } from "../../../../src/upstream/route-failure.ts";

const PARTS = { logprobs: false, reasoning: false };

const WORDS = {
  stop:
    "stop STOP eos EOS eos_token end_turn endTurn stop_sequence FINISH_REASON_STOP complete " +
    "COMPLETE done finished xyzzy tool_calls function_call",
  length:
    "length LENGTH max_tokens MAX_TOKENS maxTokens FINISH_REASON_MAX_TOKENS model_length " +
    "max_output_tokens model_context_window_exceeded max_tokens_reached output_limit",
  content_filter:
    "content_filter CONTENT_FILTER SAFETY RECITATION PROHIBITED_CONTENT BLOCKLIST SPII sensitive " +
    "content_filtered guardrail_intervened IMAGE_PROHIBITED_CONTENT MODEL_ARMOR",
  error:
    "error ERROR abort aborted cancelled network_error insufficient_system_resource timeout " +
    "upstream_error MALFORMED_FUNCTION_CALL MISSING_THOUGHT_SIGNATURE " +
    "rate_limit ERROR_LIMIT failed",
};

for (const [meaning, words] of Object.entries(WORDS)) {
  describe(meaning, () => {
    for (const word of words.split(" ")) {
      test(`is the meaning of ${word}, streamed and whole`, () => {
        const streamed = () => {
          const reader = new ReplyReader(PARTS);
          reader.read({ choices: [{ delta: { content: "Hi" } }] });
          reader.read({ choices: [{ delta: {}, finish_reason: word }] });
          return reader.end().finish_reason;
        };
        const choice = { message: { content: "Hi" }, finish_reason: word };
        const whole = () =>
          readWholeReply(JSON.stringify({ choices: [choice] }), PARTS).choices[0]?.finish_reason;
        for (const read of [streamed, whole]) {
          if (meaning === "error") expect(read).toThrow(RouteFailure);
          else expect(read()).toBe(meaning);
        }
      });
    }
  });
}

test("the end of a reply with a tool call is tool_calls, unless it was cut short", () => {
  const tool_calls = [{ id: "a", function: { name: "f", arguments: "{}" } }];
  const endOf = (finish_reason: unknown) =>
    readWholeReply(JSON.stringify({ choices: [{ message: { tool_calls }, finish_reason }] }), PARTS)
      .choices[0]?.finish_reason;
  expect([..."stop,tool_use,eos,length,SAFETY".split(","), null].map(endOf)).toEqual([
    "tool_calls",
    "tool_calls",
    "tool_calls",
    "length",
    "content_filter",
    "tool_calls",
  ]);
});
