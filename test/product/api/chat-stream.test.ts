import { describe, expect, test } from "bun:test";
import type { CancelSignal } from "../../../src/core/cancellation.ts";
import { ApiError } from "../../../src/core/errors.ts";
import type { Outcome } from "../../../src/core/journal/journal.ts";
import { type NanoUsd, toDecimal, usd } from "../../../src/core/money/money.ts";
import type { ChatBatch } from "../../../src/services/chat/protocols/provider.ts";
import { chatBody, errorOf, until } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApiOn } from "../../support/api/shared-api.ts";
import { USAGE_JSON } from "../../support/api/whole-replies.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import {
  batchesOf,
  endBatch,
  LANE,
  silence,
  textBatch,
  USAGE,
} from "../../support/fakes/scripted-chat.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const clock = new FakeClock();

const api = await sharedApiOn(clock);

const STREAM = chatBody({ stream: true });

/** Reads the frames of a stream one by one. */
class Frames {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = "";

  constructor(response: Response) {
    if (response.body === null) throw new Error("The response has no body");
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  /** The data of the next frame, or null at the end. */
  async next(): Promise<string | null> {
    while (!this.#text.includes("\n\n")) {
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#text += new TextDecoder().decode(value);
    }
    const end = this.#text.indexOf("\n\n");
    const frame = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 2);
    expect(frame).toStartWith("data: ");
    return frame.slice(6);
  }

  async rest(): Promise<string[]> {
    const frames: string[] = [];
    for (let frame = await this.next(); frame !== null; frame = await this.next()) {
      frames.push(frame);
    }
    return frames;
  }
}

/** The service pulls again only after a batch was taken. */
async function batchesTaken(count: number): Promise<void> {
  await until(() => api.chat.pulls === count, `${count} batches were taken`);
}

async function open(account: TestAccount, signal?: AbortSignal): Promise<Frames> {
  const response = await api.post(account, STREAM, signal && { signal });
  expect(response.status).toBe(200);
  return new Frames(response);
}

/** Sends batches, then nothing until it is aborted. */
async function* thenSilence(batches: readonly ChatBatch[], signal: CancelSignal) {
  yield* batches;
  await silence(signal);
}

async function lastOutcome(account: TestAccount): Promise<Outcome> {
  const entries = await api.journal(account);
  const end = entries.at(-1)?.end;
  if (!end) throw new Error("The last entry of the journal is no call");
  return end;
}

async function spent(account: TestAccount): Promise<NanoUsd> {
  const view = await api.view(account);
  expect([view.heldPaid, view.heldFree, view.monthHeld]).toEqual([usd("0"), usd("0"), usd("0")]);
  expect(view.openStreams).toBe(0);
  return view.monthSpent;
}

describe("a stream to its end", () => {
  test("sends chunks, the last of them with usage and cost, then [DONE]", async () => {
    const account = await api.account();
    api.chat.batches = () =>
      batchesOf([
        { deltas: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }], usage: null },
        { deltas: [...textBatch("Hel").deltas, ...textBatch("lo").deltas], usage: null },
        endBatch(USAGE),
      ]);
    const response = await api.post(account, STREAM);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const frames = await new Frames(response).rest();
    expect(frames.pop()).toBe("[DONE]");
    const chunks = frames.map((frame) => JSON.parse(frame));
    const id = `chatcmpl-${response.headers.get("x-request-id")?.slice(4)}`;
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ id, object: "chat.completion.chunk", model: MODEL.id });
    }
    expect(chunks.map(({ choices }) => choices)).toEqual([
      [{ index: 0, delta: { role: "assistant" }, finish_reason: null }],
      [{ index: 0, delta: { content: "Hel" }, finish_reason: null }],
      [{ index: 0, delta: { content: "lo" }, finish_reason: null }],
      [{ index: 0, delta: {}, finish_reason: "stop" }],
    ]);
    expect(chunks.slice(0, -1).filter((chunk) => "usage" in chunk || "svc" in chunk)).toEqual([]);
    expect(chunks.at(-1)).toMatchObject({
      usage: USAGE_JSON,
      svc: { request_id: response.headers.get("x-request-id"), cost_usd: 0.00002 },
    });
    expect(await spent(account)).toBe(usd("0.00002"));
    expect(await lastOutcome(account)).toMatchObject({
      status: 200,
      errorCode: null,
      lane: LANE,
    });
  });

  test("ends as OpenAI's for a client that asks for include_usage", async () => {
    const account = await api.account();
    api.chat.batches = () => batchesOf([textBatch("Hello"), endBatch(USAGE)]);
    const options = { stream: true, stream_options: { include_usage: true } };
    const frames = await new Frames(await api.post(account, chatBody(options))).rest();
    expect(frames.pop()).toBe("[DONE]");
    const chunks = frames.map((frame) => JSON.parse(frame));
    expect(chunks.map(({ choices, usage }) => [choices[0]?.finish_reason, usage])).toEqual([
      [null, null],
      ["stop", null],
      [undefined, USAGE_JSON],
    ]);
    expect(chunks.map(({ svc }) => svc?.cost_usd)).toEqual([undefined, undefined, 0.00002]);
  });

  for (const include_usage of [false, true]) {
    const how = include_usage ? "with" : "without";
    const ask = async (batches: readonly ChatBatch[]) => {
      api.chat.batches = () => batchesOf(batches);
      const options = { stream: true, stream_options: { include_usage } };
      const response = await api.post(await api.account(), chatBody(options));
      const frames = await new Frames(response).rest();
      return frames.slice(0, -1).map((frame) => JSON.parse(frame));
    };

    test(`has one finish_reason if the server sends none, ${how} include_usage`, async () => {
      const chunks = await ask([textBatch("Hello"), { deltas: [], usage: USAGE }]);
      const reasons = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
      expect(reasons).toEqual(["stop"]);
      expect(chunks.at(-1)).toMatchObject({ svc: { cost_usd: 0.00002 } });
    });

    test(`loses no text that comes with or after the end, ${how} include_usage`, async () => {
      const end = { index: 0, delta: { content: "lo" }, finish_reason: "length" };
      const chunks = await ask([
        textBatch("Hel"),
        { deltas: [end], usage: null },
        textBatch("!"),
        { deltas: [], usage: USAGE },
      ]);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      expect(text).toBe("Hello!");
      const reasons = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
      expect(reasons).toEqual(["length"]);
    });
  }

  test("sends the role first, and once, however often the server sends it", async () => {
    const role = { index: 0, delta: { role: "assistant" }, finish_reason: null };
    const again = { ...role, delta: { role: "assistant", content: "Oh. " } };
    const said = { deltas: [role], usage: null };
    for (const first of [[], [said], [said, { deltas: [again, role], usage: null }]]) {
      const account = await api.account();
      api.chat.batches = () => batchesOf([...first, textBatch("Hello"), endBatch(USAGE)]);
      const frames = await (await open(account)).rest();
      const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame));
      const roles = chunks.map(({ choices }) => choices[0].delta.role);
      expect(roles.filter((one) => one !== undefined)).toEqual(["assistant"]);
      expect(roles[0]).toBe("assistant");
    }
  });

  test("has a choice in every frame, so that a loop over choices[0] works", async () => {
    const account = await api.account();
    api.chat.batches = () => batchesOf([textBatch("Hel"), textBatch("lo"), endBatch(USAGE)]);
    const frames = await (await open(account)).rest();
    const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame));
    expect(chunks.map(({ choices }) => choices.length)).toEqual([1, 1, 1]);
  });

  test("is settled before it reports its cost", async () => {
    const account = await api.account();
    api.chat.batches = () => batchesOf([textBatch("Hello"), endBatch(USAGE)]);
    const frames = await open(account);
    const spentAtCost: NanoUsd[] = [];
    for (let frame = await frames.next(); frame !== null; frame = await frames.next()) {
      if (frame.includes('"svc"')) spentAtCost.push(await spent(account));
    }
    expect(spentAtCost).toEqual([usd("0.00002")]);
  });

  test("counts tokens itself when the upstream does not", async () => {
    const account = await api.account();
    api.chat.batches = () => batchesOf([textBatch("One two three four"), endBatch(null)]);
    const frames = await (await open(account)).rest();
    const { usage, svc } = JSON.parse(frames.at(-2) ?? "");
    expect(usage.completion_tokens).toBeGreaterThanOrEqual(4);
    expect(svc.cost_usd).toBe(Number(toDecimal(await spent(account))));
  });

  test("is a plain error if the first batch does not come", async () => {
    const account = await api.account();
    api.chat.batches = () => batchesOf([]);
    const response = await api.post(account, STREAM);
    expect(response.status).toBe(502);
    expect((await errorOf(response)).code).toBe("upstream_unreachable");
    expect(await spent(account)).toBe(usd("0"));
  });
});

describe("a stream that uses up its hold", () => {
  for (const include_usage of [false, true]) {
    const how = include_usage ? "with" : "without";
    test(`ends with "length" and is charged the hold, ${how} include_usage`, async () => {
      const account = await api.account();
      let sent = 0;
      api.chat.batches = async function* () {
        for (; ; sent += 1) yield textBatch("word ");
      };
      const fields = { stream: true, max_tokens: 5, stream_options: { include_usage } };
      const frames = await new Frames(await api.post(account, chatBody(fields))).rest();
      expect(frames.pop()).toBe("[DONE]");
      const chunks = frames.map((frame) => JSON.parse(frame));
      const reasons = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
      expect(reasons).toEqual(["length"]);
      expect(sent).toBeLessThan(100);
      expect(api.chat.open).toBe(0);
      // The bound of "Hello" is 5 bytes and twice 16 tokens of a template.
      expect(await spent(account)).toBe(usd("0.000047"));
      expect(chunks.at(-1)).toMatchObject({ svc: { cost_usd: 0.000047 } });
      expect(await lastOutcome(account)).toMatchObject({ status: 200, errorCode: null });
    });
  }

  test("ends within a batch too, of which no more is sent", async () => {
    const account = await api.account();
    const deltas = Array.from({ length: 600 }, () => textBatch("word ").deltas).flat();
    api.chat.batches = () => batchesOf([{ deltas, usage: null }, endBatch(null)]);
    const response = await api.post(account, chatBody({ stream: true, max_tokens: 5 }));
    const frames = await new Frames(response).rest();
    expect(frames.length).toBeLessThan(100);
    expect(frames.at(-2)).toContain('"finish_reason":"length"');
    expect(await spent(account)).toBe(usd("0.000047"));
  });

  test("is sent whole as long as it costs less, in however many batches", async () => {
    const account = await api.account();
    const deltas = Array.from({ length: 600 }, () => textBatch("word ").deltas).flat();
    const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 1_200 };
    api.chat.batches = () =>
      batchesOf([{ deltas, usage: null }, { deltas, usage: null }, endBatch(usage)]);
    const response = await api.post(account, chatBody({ stream: true, max_tokens: 1_300 }));
    const frames = await new Frames(response).rest();
    expect(frames).toHaveLength(1_202);
    expect(frames.at(-2)).toContain('"finish_reason":"stop"');
    expect(await lastOutcome(account)).toMatchObject({ completionTokens: 1_200 });
  });
});

describe("a stream that breaks off", () => {
  test("charges the sent text when the upstream fails, and reports it without [DONE]", async () => {
    const account = await api.account();
    api.chat.batches = async function* () {
      for (let count = 0; count < 10; count++) yield textBatch("word ");
      throw new ApiError("upstream_unreachable", "The model broke off");
    };
    const frames = await (await open(account)).rest();
    expect(frames).toHaveLength(11);
    expect(JSON.parse(frames[10] ?? "")).toEqual({
      error: { type: "server_error", code: "upstream_unreachable", message: "The model broke off" },
    });
    const { promptTokens, completionTokens } = await lastOutcome(account);
    expect(completionTokens).toBe(10);
    expect(promptTokens).toBeGreaterThan(0);
    expect(await spent(account)).toBe(
      BigInt(Number(promptTokens) * 1_000 + Number(completionTokens) * 2_000) as NanoUsd,
    );
  });

  test("hides our own fault", async () => {
    const account = await api.account();
    api.chat.batches = async function* () {
      yield textBatch("a");
      throw new Error("secret detail");
    };
    const frames = await (await open(account)).rest();
    expect(frames.join()).toContain("internal_error");
    expect(frames.join()).not.toContain("secret");
    expect(await spent(account)).toBeGreaterThan(0n);
  });

  test("ends at once when the client leaves, and charges the sent text", async () => {
    const account = await api.account();
    api.chat.batches = (_request, { signal }) => thenSilence([textBatch("Hello there")], signal);
    const leaving = new AbortController();
    const frames = await open(account, leaving.signal);
    await frames.next();
    await batchesTaken(1);
    // Everything that the stream does not keep is gone by now, such as the request.
    Bun.gc(true);
    leaving.abort();
    // The clock stands still: no time limit can end it.
    await until(() => api.openCalls === 0, "the call was settled");
    expect(api.chat.aborted).toBe(1);
    const { promptTokens, completionTokens, errorCode } = await lastOutcome(account);
    expect(errorCode).toBe("client_disconnected");
    expect(completionTokens).toBeGreaterThanOrEqual(2);
    expect(await spent(account)).toBe(
      BigInt(Number(promptTokens) * 1_000 + Number(completionTokens) * 2_000) as NanoUsd,
    );
  });

  test("charges nothing to a client who leaves before the first token", async () => {
    const account = await api.account();
    const role = { index: 0, delta: { role: "assistant" }, finish_reason: null };
    api.chat.batches = (_request, { signal }) =>
      thenSilence([{ deltas: [role], usage: null }], signal);
    const leaving = new AbortController();
    const frames = await open(account, leaving.signal);
    await frames.next();
    leaving.abort();
    await until(() => api.openCalls === 0, "the call was settled");
    expect(await spent(account)).toBe(usd("0"));
  });

  test("charges nothing to a client who leaves before the first batch", async () => {
    const account = await api.account();
    api.chat.batches = (_request, { signal }) => thenSilence([], signal);
    const leaving = new AbortController();
    const response = api.post(account, STREAM, { signal: leaving.signal });
    await until(() => api.chat.open === 1, "the upstream was asked");
    leaving.abort();
    await response.catch(() => {});
    await until(() => api.openCalls === 0, "the hold was given back");
    expect(await spent(account)).toBe(usd("0"));
    expect(await lastOutcome(account)).toMatchObject({ status: 499 });
  });

  test("stops when its key is revoked, and charges the sent text", async () => {
    const account = await api.account();
    api.chat.batches = (_request, { signal }) => thenSilence([textBatch("Hello there")], signal);
    const frames = await open(account);
    await frames.next();
    await batchesTaken(1);
    await api.revoke(account);
    await api.renewLeases();
    const rest = await frames.rest();
    expect(rest).toHaveLength(1);
    expect(rest[0]).toStartWith('{"error":');
    await until(() => api.openCalls === 0, "the call was settled");
    expect(await lastOutcome(account)).toMatchObject({ status: 200 });
    expect(Number((await lastOutcome(account)).completionTokens)).toBeGreaterThanOrEqual(2);
    expect((await api.post(account, STREAM)).status).toBe(401);
  });
});

describe("the time limits of a stream", () => {
  test("90 seconds without a byte of the upstream end it", async () => {
    const account = await api.account();
    api.chat.batches = (_request, { signal }) => thenSilence([textBatch("Hello there")], signal);
    const frames = await open(account);
    await frames.next();
    await batchesTaken(1);
    clock.advance(89_999);
    expect(api.openCalls).toBe(1);
    clock.advance(1);
    const rest = await frames.rest();
    expect(rest).toHaveLength(1);
    expect(JSON.parse(rest[0] ?? "").error).toMatchObject({ code: "upstream_unreachable" });
    expect(await spent(account)).toBeGreaterThan(0n);
    expect(await lastOutcome(account)).toMatchObject({ status: 200, errorCode: "stream_idle" });
  });

  test("90 seconds without a first batch are a plain 502, uncharged", async () => {
    const account = await api.account();
    api.chat.batches = (_request, { signal }) => thenSilence([], signal);
    const response = api.post(account, STREAM);
    await until(() => api.chat.open === 1, "the upstream was asked");
    clock.advance(90_000);
    expect((await response).status).toBe(502);
    expect(await spent(account)).toBe(usd("0"));
  });

  test("15 minutes end it, however busy it is", async () => {
    const account = await api.account();
    let send = Promise.withResolvers<void>();
    api.chat.batches = async function* (_request, { signal }) {
      for (;;) {
        yield textBatch("word ");
        await Promise.race([send.promise, silence(signal)]);
      }
    };
    const frames = await open(account);
    await frames.next();
    await batchesTaken(1);
    for (let minute = 1; minute < 15; minute++) {
      clock.advance(60_000);
      const next = send;
      send = Promise.withResolvers();
      next.resolve();
      expect(await frames.next()).toContain("word");
      await batchesTaken(minute + 1);
    }
    clock.advance(60_000);
    const rest = await frames.rest();
    expect(rest).toHaveLength(1);
    expect(rest[0]).toContain("15 minutes");
    expect(await lastOutcome(account)).toMatchObject({ errorCode: "stream_too_long" });
    expect(Number((await lastOutcome(account)).completionTokens)).toBeGreaterThanOrEqual(15);
  });

  test("a client that does not read is cut off, and unread text costs nothing", async () => {
    const account = await api.account();
    // Much to send and little to pay for, so that the hold does not end it.
    const delta = { content: "word ", padding: "x".repeat(63_000) };
    const batch = { deltas: [{ index: 0, delta, finish_reason: null }], usage: null };
    let sent = 0;
    api.chat.batches = async function* () {
      for (; ; sent++) yield batch;
    };
    const socket = await connectWithoutReading(account);
    await until(() => sent > 0, "the stream began");
    // The buffers between the two fill up. From then on no byte is taken, and time passes.
    await until(() => {
      clock.advance(1_000);
      return api.openCalls === 0;
    }, "the call was settled");
    expect(sent).toBeLessThan(400);
    expect(await lastOutcome(account)).toMatchObject({ errorCode: "client_not_reading" });
    expect(await spent(account)).toBeGreaterThan(0n);
    socket.destroy();
  });
});

describe("the lease of a stream", () => {
  test("carries the cost so far, never more than the sent text's", async () => {
    const account = await api.account();
    const send = Promise.withResolvers<void>();
    api.chat.batches = async function* (_request, { signal }) {
      yield textBatch("one two three ");
      await send.promise;
      yield* thenSilence([textBatch("one two three ")], signal);
    };
    const leaving = new AbortController();
    const frames = await open(account, leaving.signal);
    const checkpoint = async () => (await api.holdRecords(account))[0]?.checkpoint;
    await frames.next();
    await batchesTaken(1);
    expect(await checkpoint()).toBe(usd("0"));
    await api.saveCosts();
    const first = await checkpoint();
    send.resolve();
    await frames.next();
    await batchesTaken(2);
    await api.saveCosts();
    const second = (await checkpoint()) ?? usd("0");
    expect(second).toBeGreaterThan(first ?? second);
    leaving.abort();
    await until(() => api.openCalls === 0, "the call was settled");
    expect(second).toBeLessThanOrEqual(await spent(account));
  });

  test("carries a cost of half a cent and more without waiting for its time", async () => {
    const account = await api.account({ paid: "5" });
    api.chat.batches = (_request, { signal }) => thenSilence([textBatch("one ")], signal);
    const leaving = new AbortController();
    const messages = [{ role: "user", content: "all work and no play ".repeat(20_000) }];
    void api.post(account, { ...STREAM, messages }, { signal: leaving.signal });
    await until(async () => {
      const [record] = await api.holdRecords(account);
      return (record?.checkpoint ?? usd("0")) > usd("0.005");
    }, "Redis has the cost");
    leaving.abort();
  });
});

/** Requests a stream over a socket that is never read. */
async function connectWithoutReading(account: TestAccount) {
  const { connect } = await import("node:net");
  const socket = connect(api.parts.port, "127.0.0.1");
  socket.pause();
  socket.on("error", () => {});
  const body = JSON.stringify(STREAM);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}
