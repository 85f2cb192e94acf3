// Tests that the log says which calls a provider refused for their content on each door, for
// servers of every form: at the end of a reply, in its text, and by an error in its place or in its
// middle.

import { beforeEach, describe, expect, test } from "bun:test";
import { inspected } from "../../support/api/chat-routes.ts";
import { DOOR_WAYS, type DoorWay, doorsAt } from "../../support/api/doors-world.ts";
import { SSE, sse, typedEvent, type WireAnswer } from "../../support/fakes/wire/wire-answer.ts";
import { startWireServer, type WireReply } from "../../support/fakes/wire/wire-server.ts";
import { shared } from "../../support/shared.ts";

const server = await shared(startWireServer());
const api = await doorsAt(server.url);

beforeEach(() => server.reset());

const USAGE = { uncached: 12, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 };
const ANSWER: WireAnswer = { text: ["Fares ", "are"], end: "stop", usage: USAGE };
const FILTERED: WireAnswer = { ...ANSWER, end: "filter" };
const REFUSED = "invalid_parameter";
const MESSAGE = "Your message was flagged by our moderation";

/** The event with which a server of this form refuses the content in the middle of a reply. */
function refusalEvent({ form }: DoorWay): string {
  const error = { type: "invalid_request_error", code: "content_filter", message: MESSAGE };
  if (form === "messages") return typedEvent("error", { error });
  if (form === null) return sse({ error });
  return typedEvent("response.failed", { response: { status: "failed", error, usage: null } });
}

interface Asked {
  readonly stream: boolean;
  readonly reply: WireReply;
}

/** The status of a call, its text, what it cost, and whether the log counts it as refused. */
async function asked(way: DoorWay, { stream, reply }: Asked) {
  const account = await api.account({ contract: "enterprise", paid: "5" });
  const before = await api.view(account);
  server.queue(reply);
  const response = await api.postTo(way.path, account, way.body({ stream, maxTokens: 100 }));
  const text = await response.text();
  const { paid } = await api.view(account);
  const { end } = (await api.journal(account)).at(-1) ?? {};
  const isRefused = end?.usageDetails?.isContentRefused ?? false;
  return { status: response.status, text, isCharged: paid < before.paid, isRefused };
}

describe.each(DOOR_WAYS.map((way) => [way.name, way] as const))("%s", (_, way) => {
  test.each([false, true])(
    "a reply that the provider's rules end, streamed: %p",
    async (stream) => {
      const how = stream ? "stream" : "whole";
      const good = await asked(way, { stream, reply: way.wire[how](ANSWER) });
      expect(good).toMatchObject({ status: 200, isCharged: true, isRefused: false });
      const cut = await asked(way, { stream, reply: way.wire[how](FILTERED) });
      expect(cut).toMatchObject({ status: 200, isCharged: true, isRefused: true });
    },
  );

  test("an error in place of a reply", async () => {
    const error = { type: "invalid_request_error", code: "content_filter", message: MESSAGE };
    const reply = {
      body: [JSON.stringify({ type: "error", status: "failed", error, output: [] })],
    };
    for (const stream of [false, true]) {
      const { text, ...refused } = await asked(way, { stream, reply });
      expect(refused).toEqual({ status: 400, isCharged: false, isRefused: true });
      expect(text).toContain(MESSAGE);
    }
  });

  test("an error before any text of a stream", async () => {
    const { body } = way.wire.stream(ANSWER);
    const reply = { headers: SSE, body: [...body.slice(0, 1), refusalEvent(way)] };
    const { text, ...refused } = await asked(way, { stream: true, reply });
    expect(refused).toEqual({ status: 400, isCharged: false, isRefused: true });
    expect(text).toContain(MESSAGE);
  });

  test("an error after some text, which is charged", async () => {
    const { body } = way.wire.stream(ANSWER);
    const texts = body.findIndex((event) => String(event).includes("Fares ")) + 1;
    const reply = { headers: SSE, body: [...body.slice(0, texts), refusalEvent(way)] };
    const { text, ...refused } = await asked(way, { stream: true, reply });
    expect(refused).toEqual({ status: 200, isCharged: true, isRefused: true });
    expect(text).toContain(MESSAGE);
    // The words of the provider may quote the prompt.
    const { logged } = api.parts;
    const line = logged.findLast(({ message }) => message === "A stream broke off");
    expect(line?.fields).toMatchObject({ code: REFUSED });
    expect(inspected(line)).not.toContain(MESSAGE);
  });
});

describe("a response in which the model refuses to answer", () => {
  const [own] = DOOR_WAYS.filter(({ form }) => form === "responses");
  if (own === undefined) throw new Error("No door passes Responses through");
  const thought = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "?" }] };
  const said = {
    id: "m_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "refusal", refusal: "I will not." }],
  };
  const { body } = own.wire.whole({ end: "stop", usage: USAGE });
  const response = { ...JSON.parse(String(body[0])), output: [thought, said] };

  test("whole", async () => {
    const refused = await asked(own, {
      stream: false,
      reply: { body: [JSON.stringify(response)] },
    });
    expect(refused).toMatchObject({ status: 200, isCharged: true, isRefused: true });
  });

  test("streamed, after a thought that the caller sees", async () => {
    const place = { item_id: said.id, output_index: 1, content_index: 0 };
    const events = [
      typedEvent("response.output_item.added", { output_index: 0, item: thought }),
      typedEvent("response.reasoning_summary_text.delta", {
        item_id: thought.id,
        output_index: 0,
        summary_index: 0,
        delta: "?",
      }),
      typedEvent("response.output_item.done", { output_index: 0, item: thought }),
      typedEvent("response.output_item.added", {
        output_index: 1,
        item: { ...said, content: [] },
      }),
      typedEvent("response.refusal.delta", { ...place, delta: "I will not." }),
      typedEvent("response.output_item.done", { output_index: 1, item: said }),
      typedEvent("response.completed", { response }),
    ];
    const reply = { headers: SSE, body: events };
    const refused = await asked(own, { stream: true, reply });
    expect(refused).toMatchObject({ status: 200, isCharged: true, isRefused: true });
  });
});
