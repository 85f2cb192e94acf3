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

test("an image smaller than the largest pays for no text that was not delivered", async () => {
  using tokens = new TokenCounter({ clock: realClock, log: silent });
  const request = { messages: [], maxTokens: 5_000, parameters: {} };
  const model = { ...MODEL, imageTokens: 1_290 };
  const usage = new StreamUsage(tokens, "acct", { model, request });
  const more = { imageOut: 258 };
  const reported = { promptTokens: 10, cachedTokens: 0, completionTokens: 1_258, more };
  usage.meter.add([{ index: 0, delta: { images: ["one"] }, finish_reason: null }]);
  usage.meter.add([{ index: 0, delta: { content: "Hello" }, finish_reason: null }]);
  usage.take({ deltas: [], usage: reported });
  const delivered = { promptTokens: 10, completionTokens: 259, more };
  expect(await usage.streamed()).toMatchObject(delivered);
  usage.meter.add([{ index: 0, delta: { content: " there it is at last" }, finish_reason: null }]);
  const { completionTokens, more: parts } = await usage.soFar();
  expect(completionTokens).toBeGreaterThanOrEqual(259);
  expect(completionTokens).toBeLessThan(270);
  expect(parts).toEqual(more);
});
