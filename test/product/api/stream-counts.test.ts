// Tests how often the text of a stream is counted while it runs.

import { expect, spyOn, test } from "bun:test";
import { TokenCounter } from "../../../src/services/chat/tokens/token-counter.ts";
import { ApiWorld, chatBody } from "../../support/api/api-world.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { batchesOf, endBatch, textBatch, USAGE } from "../../support/fakes/scripted-chat.ts";
import { silent } from "../../support/fakes/silent-log.ts";

const PIECES = 200;

test("a stream below its limit is counted only while its model is not known", async () => {
  const tokens = new TokenCounter({ clock: realClock, log: silent });
  await using api = await ApiWorld.start({ tokens });
  const counted = spyOn(tokens, "countTexts");
  const text = Array.from({ length: PIECES }, () => textBatch(" quickly"));
  api.chat.batches = () => batchesOf([...text, endBatch({ ...USAGE, completionTokens: PIECES })]);
  const account = await api.account({ paid: "1" });
  const countsOfOne = async () => {
    counted.mockClear();
    const response = await api.post(account, chatBody({ stream: true, max_tokens: 256 }));
    expect(await response.text()).toEndWith("data: [DONE]\n\n");
    return counted.mock.calls.length;
  };
  expect([await countsOfOne(), await countsOfOne()]).toEqual([2, 0]);
  tokens.close();
});
