import { expect, test } from "bun:test";
import { areDoorsMet, type DoorFigures, doorRows } from "../../../bench/doors.ts";
import { requestOf } from "../../../bench/load/requests.ts";
import { MESSAGE_SCRIPTS } from "../../../bench/load/stub-messages.ts";
import { RESPONSE_SCRIPTS } from "../../../bench/load/stub-responses.ts";
import type { Results, Round } from "../../../bench/rounds.ts";

const round = (us: number): Round => ({
  callsPerSecond: 1,
  p50Ms: 1,
  p99Ms: 2,
  cpuPerCallUs: us,
  eventsPerSecond: 1,
  cpuPerEventUs: us / 10,
  othersPerCallUs: {},
  costNano: 1n,
});
const resultsOf = (passed: readonly number[], converted: readonly number[]): Results => {
  const seriesOf = (all: readonly number[]) => ({ rounds: all.map(round), costNano: 1n });
  return new Map([
    ["farebox", seriesOf([50, 100])],
    ["Messages, passed through", seriesOf(passed)],
    ["Messages, by the middle form", seriesOf(converted)],
    ["Responses, passed through", seriesOf(passed)],
    ["Responses, by the middle form", seriesOf(converted)],
  ]);
};
const figuresOf = (calls: Results, streams = calls): DoorFigures => ({
  chat: "farebox",
  calls,
  streams,
});

test("a door is compared with a chat completion in the same round", () => {
  const rows = doorRows(figuresOf(resultsOf([60, 120], [100, 250])));
  const expected = (what: string) => [
    [`${what}: Messages, passed through`, 1.2],
    [`${what}: Messages, by the middle form`, 2.25],
    [`${what}: Responses, passed through`, 1.2],
    [`${what}: Responses, by the middle form`, 2.25],
  ];
  expect(rows.map(({ what, ratio }) => [what, ratio])).toEqual([
    ...expected("call"),
    ...expected("chunk"),
  ]);
});

test("a door misses its aim by one figure that is over it, or was not measured", () => {
  const good = resultsOf([75, 150], [150, 300]);
  expect(areDoorsMet(figuresOf(good))).toBe(true);
  expect(areDoorsMet(figuresOf(resultsOf([76, 152], [150, 300]), good))).toBe(false);
  expect(areDoorsMet(figuresOf(good, resultsOf([75, 150], [301, 602])))).toBe(false);
  expect(areDoorsMet(figuresOf(good, new Map()))).toBe(false);
});

test("a request of Messages has the model, the words and the limit of the same chat", () => {
  for (let number = 0; number < 100; number += 1) {
    const bodyOf = (form: "chat" | "messages") =>
      JSON.parse(requestOf({ model: "plain", stream: true, form }, number).body);
    const [chat, { system, ...message }] = [bodyOf("chat"), bodyOf("messages")];
    const first = system === undefined ? [] : [{ role: "system", content: system }];
    const { model, max_tokens, messages } = chat;
    expect(message).toEqual({
      model,
      max_tokens,
      stream: true,
      messages: messages.slice(first.length),
    });
    expect([...first, ...message.messages]).toEqual(messages);
  }
});

test("a request of Responses has the model, the words and the limit of the same chat", () => {
  for (let number = 0; number < 100; number += 1) {
    const bodyOf = (form: "chat" | "responses") =>
      JSON.parse(requestOf({ model: "plain", stream: true, form }, number).body);
    const [chat, { instructions, ...response }] = [bodyOf("chat"), bodyOf("responses")];
    const first = instructions === undefined ? [] : [{ role: "system", content: instructions }];
    const { model, max_tokens, messages } = chat;
    const input = messages.slice(first.length);
    expect(response).toEqual({ model, max_output_tokens: max_tokens, stream: true, input });
    expect([...first, ...input]).toEqual(messages);
  }
});

test("a streamed response ends with its usage", () => {
  for (const { end } of RESPONSE_SCRIPTS) {
    expect(end(7).toString()).toMatch(/event: response.completed\n.*"output_tokens":7/s);
  }
});

test("a streamed message ends with its usage and its stop", () => {
  for (const { end } of MESSAGE_SCRIPTS) {
    expect(end(7).toString()).toMatch(/"output_tokens":7.*event: message_stop\n/s);
  }
});
