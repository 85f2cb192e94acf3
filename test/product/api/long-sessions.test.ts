// Long sessions of agents: each turn sends all calls of tools so far, and is served to the end.

import { beforeEach, describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { BodyThread } from "../../../src/start/body-threads.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { DOOR_WAYS, doorsAt } from "../../support/api/doors-world.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { startWireServer } from "../../support/fakes/wire/wire-server.ts";
import { atEnd, shared } from "../../support/shared.ts";

const parser = new BodyThread({ clock: realClock, log: silent });
atEnd(() => parser.close());
const server = await shared(startWireServer());
const api = await doorsAt(server.url, { parser });
const account = await api.account({ contract: "enterprise", paid: "100" });

beforeEach(() => server.reset());

const OUTPUT = "a line of the file\n".repeat(8);

/** The history of a session after this many calls of tools, as agents of each door send it. */
const HISTORIES = {
  responses: (calls: number) => ({
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Edit the fare" }] },
      ...Array.from({ length: calls }, (_, n) => [
        {
          type: "function_call",
          id: `fc_${n}`,
          call_id: `call_${n}`,
          name: "shell",
          arguments: '{"command":["cat","fare.txt"]}',
          status: "completed",
        },
        { type: "function_call_output", call_id: `call_${n}`, output: OUTPUT },
      ]).flat(),
    ],
  }),
  messages: (calls: number) => ({
    messages: [
      { role: "user", content: "Edit the fare" },
      ...Array.from({ length: calls }, (_, n) => [
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look." },
            { type: "tool_use", id: `call_${n}`, name: "Read", input: { file_path: "fare.txt" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: `call_${n}`, content: OUTPUT, is_error: false },
          ],
        },
      ]).flat(),
    ],
  }),
} as const;

const usage = { uncached: 9_000, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0 };
const answer = { text: ["Done."], end: "stop", usage } as const;
const WAYS = DOOR_WAYS.flatMap((way) =>
  way.door === "responses" || way.door === "messages" ? [{ ...way, door: way.door }] : [],
);

describe("a session ends well after this many calls of tools:", () => {
  for (const way of WAYS) {
    for (const calls of [300, 2_000]) {
      test(`${calls} at ${way.name}`, async () => {
        server.queue(way.wire.stream(answer));
        const { paid: before } = await api.view(account);
        const body = {
          ...way.body({ stream: true, maxTokens: 1_000 }),
          ...HISTORIES[way.door](calls),
        };
        const response = await api.postTo(way.path, account, body);
        expect(response.status).toBe(200);
        expect(await response.text()).toContain('"cost_usd":0.00902');
        const { paid, heldPaid } = await api.view(account);
        expect([before - paid, heldPaid]).toEqual([usd("0.00902"), usd("0")]);
        const sent = server.requests.at(-1)?.text ?? "";
        expect(sent.split(OUTPUT.slice(0, -1).replaceAll("\n", "\\n")).length - 1).toBe(calls);
      });
    }
  }
});

test("one item too many is refused by the number of items, and no server is asked", async () => {
  const asked = server.requests.length;
  const turns = Array(10_001).fill({ role: "user", content: "Edit the fare" });
  for (const [path, field] of [
    ["/v1/responses", "input"],
    ["/v1/messages", "messages"],
  ] as const) {
    const body = { model: "door-model", max_tokens: 10, [field]: turns };
    const response = await api.postTo(path, account, body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toBe(`${field} must have at most 10000 items`);
  }
  expect(server.requests).toHaveLength(asked);
});

test("a body of 33 MB is refused by its size, and no server is asked", async () => {
  const asked = server.requests.length;
  const text = "x".repeat(33 * 1024 * 1024);
  for (const [path, fields] of [
    ["/v1/responses", { input: text }],
    ["/v1/messages", { max_tokens: 10, messages: [{ role: "user", content: text }] }],
  ] as const) {
    const response = await api.postTo(path, account, { model: "door-model", ...fields });
    expect(response.status).toBe(413);
    const { code, message } = await errorOf(response);
    expect([code, message]).toEqual([
      "body_too_large",
      "The body must not be larger than 33554432 bytes",
    ]);
  }
  expect(server.requests).toHaveLength(asked);
});
