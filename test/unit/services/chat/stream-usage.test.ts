// Tests the usage of streams.

import { expect, test } from "bun:test";
import { StreamUsage } from "../../../../src/services/chat/stream-usage.ts";
import { TokenCounter } from "../../../../src/services/chat/tokens/token-counter.ts";
import { MODEL } from "../../../support/api/models.ts";
import { realClock } from "../../../support/fakes/fake-clock.ts";
import { silent } from "../../../support/fakes/silent-log.ts";

const WORDS = 400_000;

test("the prompt of a stream that is settled is not counted to its end", async () => {
  using tokens = new TokenCounter({ clock: realClock, log: silent });
  const messages = [{ role: "user" as const, content: "word ".repeat(WORDS) }];
  const usage = new StreamUsage(tokens, "acct", {
    model: MODEL,
    request: { messages, maxTokens: 10, parameters: {} },
  });
  const counted = usage.prompt();
  const promptTokens = WORDS + 50;
  usage.take({ deltas: [], usage: { promptTokens, cachedTokens: 0, completionTokens: 3 } });
  expect(await usage.whole()).toMatchObject({ promptTokens, completionTokens: 3 });
  usage.end();
  expect((await counted).promptTokens).toBeLessThan(WORDS / 4);
});
