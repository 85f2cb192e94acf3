// Tests calls whose caller leaves before the answer: a plain call is charged once a server has
// accepted it, a stream is free before its first token, and a caller cannot do that often.

import { describe, expect, spyOn, test } from "bun:test";
import { connect } from "node:net";
import { ApiError } from "../../../src/core/errors.ts";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price, usd } from "../../../src/core/money/money.ts";
import type { RowPrices } from "../../../src/core/money/price-rows.ts";
import type { ChatReply } from "../../../src/services/chat/protocols/provider.ts";
import { TokenCounter } from "../../../src/services/chat/tokens/token-counter.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, costOf, until } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApiOn } from "../../support/api/shared-api.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import {
  batchesOf,
  endBatch,
  silence,
  textBatch,
  USAGE,
  wholeReply,
} from "../../support/fakes/scripted-chat.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const clock = new FakeClock();
const perMillion = (usdEach: string, when?: RowPrices["when"]): RowPrices => ({
  input: price(usdEach, 1_000_000),
  output: price(usdEach, 1_000_000),
  cachedInput: null,
  ...(when !== undefined && { when }),
});
const TIERED = {
  ...MODEL,
  id: "tiered",
  prices: pricesOf([
    perMillion("1"),
    perMillion("0.5", { tier: "flex" }),
    perMillion("4", { tier: "priority" }),
  ]),
};
const catalogue = catalogueOf([MODEL, TIERED], []);
const api = await sharedApiOn(clock, { catalogue: () => catalogue });

const STREAM = chatBody({ stream: true });

/** A non-streamed call begins to watch its caller after this time. */
const LISTENS_MS = 250;
let pendingBefore = 0;

/** Sends a call and leaves once the upstream has it. */
async function leave(account: TestAccount, body = chatBody()): Promise<void> {
  const leaving = new AbortController();
  const { open } = api.chat;
  const response = api.post(account, body, { signal: leaving.signal });
  await until(() => api.chat.open === open + 1, "the upstream was asked");
  clock.advance(LISTENS_MS);
  pendingBefore = clock.pending;
  leaving.abort();
  await response.catch(() => {});
}

/** The service has noticed that the caller of a plain call has left, and waits for the reply. */
const heard = () => until(() => clock.pending > pendingBefore, "the service heard of it");

describe("a plain call that is left", () => {
  test("is charged by the usage of the upstream", async () => {
    const account = await api.account({ paid: "1" });
    const reply = Promise.withResolvers<ChatReply>();
    api.chat.reply = () => reply.promise;
    await leave(account);
    await heard();
    reply.resolve(wholeReply("Hello"));
    await until(() => api.openCalls === 0, "the call was settled");
    expect(api.chat.aborted).toBe(0);
    expect((await api.view(account)).paid).toBe(usd("0.99998"));
    const [entry] = await api.journal(account);
    expect(entry?.end).toMatchObject({ status: 499, errorCode: "client_disconnected", ...USAGE });
  });

  test("is charged its prompt if the upstream works on for a minute", async () => {
    const account = await api.account({ paid: "1" });
    api.chat.reply = (_request, { signal }) => silence(signal);
    await leave(account);
    await heard();
    clock.advance(59_999);
    expect(api.openCalls).toBe(1);
    clock.advance(1);
    await until(() => api.openCalls === 0, "the call was settled");
    expect(api.chat.aborted).toBe(1);
    const [entry] = await api.journal(account);
    const { promptTokens = 0 } = entry?.end ?? {};
    expect(promptTokens).toBeGreaterThan(0);
    expect(entry?.end).toMatchObject({ status: 499, completionTokens: 0 });
    const { paid } = await api.view(account);
    expect(usd("1") - paid).toBe(costOf(Number(promptTokens), 0));
  });

  test("is charged that in the tier asked for, unless the standard one costs less", async () => {
    const account = await api.account({ paid: "1" });
    api.chat.reply = (_request, { signal }) => silence(signal);
    const charges: [bigint, string | undefined][] = [];
    for (const service_tier of [undefined, "flex", "priority"]) {
      const { paid: before } = await api.view(account);
      await leave(account, chatBody({ model: TIERED.id, service_tier }));
      await heard();
      clock.advance(60_000);
      await until(() => api.openCalls === 0, "the call was settled");
      const { end } = (await api.journal(account)).at(-1) ?? {};
      const each = (before - (await api.view(account)).paid) / BigInt(end?.promptTokens ?? 0);
      charges.push([each, end?.usageDetails?.tier]);
    }
    expect(charges).toEqual([
      [1_000n, undefined],
      [500n, "flex"],
      [1_000n, undefined],
    ]);
  });

  test("leaves no hold if our own fault keeps its prompt from being counted", async () => {
    const account = await api.account({ paid: "1" });
    api.chat.reply = (_request, { signal }) => silence(signal);
    const count = spyOn(TokenCounter.prototype, "countPrompt");
    count.mockRejectedValueOnce(new Error("a fault of ours"));
    await leave(account);
    await heard();
    clock.advance(60_000);
    await until(() => api.openCalls === 0, "the hold was given back");
    count.mockRestore();
    expect((await api.view(account)).paid).toBe(usd("1"));
  });

  test("is free if the upstream did not accept it", async () => {
    const account = await api.account({ paid: "1" });
    const reply = Promise.withResolvers<ChatReply>();
    api.chat.reply = () => reply.promise;
    const errors = api.errors.length;
    await leave(account);
    await heard();
    reply.reject(new ApiError("upstream_unreachable", "No"));
    await until(() => api.openCalls === 0, "the hold was given back");
    expect((await api.view(account)).paid).toBe(usd("1"));
    const [entry] = await api.journal(account);
    expect(entry?.end).toMatchObject({ status: 499, errorCode: "client_disconnected" });
    expect(api.chat.requests).toHaveLength(1);
    expect(api.errors.length).toBe(errors);
  });
});

/** From now on no stream has a first token. */
function neverBegins(): void {
  api.chat.batches = async function* (_request, { signal }) {
    yield* [];
    await silence(signal);
  };
}

/** The bytes of a call. */
function wireOf(account: TestAccount, body: object): string {
  const text = JSON.stringify(body);
  return [
    "POST /v1/chat/completions HTTP/1.1",
    `host: ${new URL(api.parts.url).host}`,
    `authorization: Bearer ${account.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "",
    text,
  ].join("\r\n");
}

// Bun closes a connection on which a request comes before the previous one's answer (D-442).
describe("two calls on a connection, the second before the first has its answer,", () => {
  const connectTo = () => {
    const socket = connect(Number(new URL(api.parts.url).port), "127.0.0.1");
    const closed = Promise.withResolvers<void>();
    socket.on("close", () => closed.resolve());
    socket.on("error", () => {});
    socket.resume();
    return { socket, closed: closed.promise };
  };

  test.each([
    ["whole replies", chatBody()],
    ["streams", STREAM],
  ])("are free, and no server is asked, if both come at once: %s", async (_, body) => {
    const account = await api.account({ paid: "1" });
    const { socket, closed } = connectTo();
    socket.write(wireOf(account, body).repeat(2));
    await closed;
    await until(async () => (await api.journal(account)).length === 1, "the first is over");
    const [entry] = await api.journal(account);
    expect(entry?.end).toMatchObject({ status: 499, errorCode: "client_disconnected" });
    expect(api.chat.requests).toHaveLength(0);
    expect((await api.view(account)).paid).toBe(usd("1"));
  });

  test("cost the upstream's usage of the first, which was in progress", async () => {
    const account = await api.account({ paid: "1" });
    const reply = Promise.withResolvers<ChatReply>();
    api.chat.reply = () => reply.promise;
    const { socket, closed } = connectTo();
    socket.write(wireOf(account, chatBody()));
    await until(() => api.chat.open === 1, "the upstream was asked");
    socket.write(wireOf(account, chatBody()));
    await closed;
    reply.resolve(wholeReply("Hello"));
    await until(() => api.openCalls === 0, "the call was settled");
    expect(api.chat.requests).toHaveLength(1);
    expect((await api.view(account)).paid).toBe(usd("0.99998"));
    const [entry] = await api.journal(account);
    expect(entry?.end).toMatchObject({ status: 499, errorCode: "client_disconnected" });
  });

  test("are free before the first token, if they are streams", async () => {
    const account = await api.account({ paid: "1" });
    neverBegins();
    const { socket, closed } = connectTo();
    socket.write(wireOf(account, STREAM));
    await until(() => api.chat.open === 1, "the upstream was asked");
    socket.write(wireOf(account, STREAM));
    await closed;
    await until(() => api.openCalls === 0, "nothing is held");
    expect((await api.view(account)).paid).toBe(usd("1"));
  });
});

describe("streams that are left before their first token", () => {
  /** An account of which a key has left 21 streams within a minute. */
  async function restless(): Promise<TestAccount> {
    const account = await api.account({ paid: "5" });
    neverBegins();
    for (let count = 0; count < 21; count += 1) {
      await leave(account, STREAM);
      await until(() => api.openCalls === 0, "the hold was given back");
    }
    expect((await api.view(account)).paid).toBe(usd("5"));
    return account;
  }

  test("more than 20 a minute slow the key to one at a time", async () => {
    const account = await restless();
    const asked = api.chat.requests.length;
    const leaving = new AbortController();
    const first = api.post(account, STREAM, { signal: leaving.signal });
    await until(() => api.chat.requests.length === asked + 1, "the first was asked");
    const second = api.post(account, STREAM);
    await until(() => api.openCalls === 2, "the second has its hold");
    expect(api.chat.requests.length).toBe(asked + 1);
    api.chat.batches = () => batchesOf([textBatch("Hello"), endBatch(USAGE)]);
    leaving.abort();
    await first.catch(() => {});
    expect(await (await second).text()).toEndWith("data: [DONE]\n\n");
  });

  test("a stream with its first token lets the next one begin", async () => {
    const account = await restless();
    const asked = api.chat.requests.length;
    api.chat.batches = async function* (_request, { signal }) {
      yield textBatch("Hello");
      await silence(signal);
    };
    const leaving = new AbortController();
    const open = () => api.post(account, STREAM, { signal: leaving.signal });
    const responses = await Promise.all([open(), open()]);
    expect(api.chat.requests.length).toBe(asked + 2);
    leaving.abort();
    for (const response of responses) await response.text().catch(() => "");
  });

  test("slow no other key, and not after a minute", async () => {
    const account = await restless();
    const other = await api.account({ paid: "5" });
    const open = (one: TestAccount, signal: AbortSignal) => api.post(one, STREAM, { signal });
    const leaving = new AbortController();
    const asked = api.chat.requests.length;
    const both = [open(other, leaving.signal), open(other, leaving.signal)];
    await until(() => api.chat.requests.length === asked + 2, "both of the other key were asked");
    leaving.abort();
    await Promise.allSettled(both);
    await until(() => api.openCalls === 0, "the holds were given back");
    clock.advance(60_000);
    const later = new AbortController();
    const two = [open(account, later.signal), open(account, later.signal)];
    await until(() => api.chat.requests.length === asked + 4, "both were asked");
    later.abort();
    await Promise.allSettled(two);
  });
});
