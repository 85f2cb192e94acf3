// What of a message is passed on: reasoning and its logprobs only where the model shows reasoning.

import { expect, test } from "bun:test";
import {
  readChoices,
  readDeltas,
  ToolCallIndexes,
} from "../../../src/services/chat/providers/upstream-json.ts";

const TOKEN = { token: "hm", logprob: -0.5, bytes: null, top_logprobs: [] };
const LOGPROBS = { content: [TOKEN], refusal: null };

for (const name of ["reasoning_content", "reasoning"]) {
  const message = { role: "assistant", content: "42", [name]: "hm" };
  const choices = [{ message, finish_reason: "stop", logprobs: LOGPROBS }];

  test(`${name} is left out with its logprobs where it is hidden`, () => {
    const [choice] = readChoices(choices, { logprobs: true, reasoning: false }) ?? [];
    expect(choice).toEqual({
      index: 0,
      message: { role: "assistant", content: "42" },
      finish_reason: "stop",
    });
  });

  test(`${name} is passed on as reasoning_content where it is shown`, () => {
    const parts = { logprobs: true, reasoning: true };
    const [choice] = readChoices(choices, parts) ?? [];
    expect(choice).toMatchObject({
      message: { role: "assistant", content: "42", reasoning_content: "hm" },
      logprobs: LOGPROBS,
    });
    const deltas = readDeltas(
      [{ index: 0, delta: { [name]: "hm", content: null } }],
      new ToolCallIndexes(),
      parts,
    );
    expect(deltas).toEqual([{ index: 0, delta: { reasoning_content: "hm" }, finish_reason: null }]);
  });
}
