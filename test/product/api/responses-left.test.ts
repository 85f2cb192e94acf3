// The charges of Responses whose caller leaves, or whose model stops: as in chat completions.

import { beforeEach, expect, test } from "bun:test";
import { subtract, toDecimal } from "../../../src/core/money/money.ts";
import { chatStream, eventsOf } from "../../support/api/messages-world.ts";
import { ownEvents, ownStream, sharedResponses } from "../../support/api/responses-world.ts";
import { eventually } from "../../support/eventually.ts";
import type { WireReply } from "../../support/fakes/wire/wire-server.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { usd } from "../../support/stores/world.ts";

const world = await sharedResponses();
const { api, own, chat } = world;

beforeEach(() => {
  own.reset();
  chat.reset();
});

/** The end of the account's only call, once nothing of it is held. */
async function endOf(account: TestAccount) {
  const hasEnded = async () => (await api.journal(account)).length > 0;
  // The first count of a process loads the tokenizer.
  await eventually("the call ends", hasEnded, 50_000);
  const [entry] = await api.journal(account);
  const { paid, heldPaid } = await api.view(account);
  return { end: entry?.end, paid, heldPaid, endpoint: entry?.metadata?.endpoint };
}

/** A stream until its second text. */
function startOf(stream: WireReply): WireReply {
  return { ...stream, body: stream.body.slice(0, 2) };
}

const CANARY = "the canary of this prompt";
const START = usd("5");
const ZERO = usd("0");

for (const model of ["own-test", "chat-test"] as const) {
  const [server, started] =
    model === "own-test"
      ? [own, ownStream(ownEvents().slice(0, 8))]
      : [chat, startOf(chatStream([{ content: "I " }, { content: "look." }]))];

  test(`a caller who leaves ${model} after text pays for the streamed text`, async () => {
    const account = await api.account({ paid: "5" });
    server.queue({ ...started, end: "hang" });
    const response = await world.post(account, { model, input: CANARY, stream: true });
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (!text.includes("look.")) text += decoder.decode((await reader?.read())?.value);
    await reader?.cancel();
    const { end, paid, heldPaid, endpoint } = await endOf(account);
    expect(end).toMatchObject({ status: 200, errorCode: "client_disconnected" });
    expect(end?.completionTokens).toBeGreaterThan(0);
    expect([paid < START, heldPaid === ZERO, endpoint]).toEqual([true, true, "/v1/responses"]);
    expect(JSON.stringify(api.parts.logged)).not.toContain(CANARY);
  });

  test(`a stream of ${model} that breaks off is charged, and its response failed`, async () => {
    const account = await api.account({ paid: "5" });
    server.queue({ ...started, end: "cut" });
    const response = await world.post(account, { model, input: CANARY, stream: true });
    const text = await response.text();
    expect(text).toContain("event: response.output_text.delta");
    const { end, paid } = await endOf(account);
    const last = eventsOf(text).at(-1);
    expect(last?.name).toBe("response.failed");
    expect(last?.data.response).toMatchObject({
      svc: { cost_usd: Number(toDecimal(subtract(START, paid))) },
      usage: { output_tokens: end?.completionTokens ?? 0 },
    });
    expect(end).toMatchObject({ status: 200, errorCode: "upstream_unreachable" });
    expect(paid < START).toBe(true);
  });

  test(`a caller who leaves ${model} before anything came pays nothing`, async () => {
    const account = await api.account({ paid: "5" });
    server.queue({ ...started, body: [], end: "hang" });
    const left = new AbortController();
    const before = server.requests.length;
    const asked = api.postTo(
      "/v1/responses",
      account,
      { model, input: CANARY, stream: true },
      { signal: left.signal },
    );
    const failed = asked.catch((error: unknown) => error);
    await eventually("the server is asked", () => server.requests.length > before);
    left.abort();
    expect(await failed).toBeInstanceOf(Error);
    expect(await endOf(account)).toMatchObject({ paid: START, heldPaid: ZERO });
  });
}
