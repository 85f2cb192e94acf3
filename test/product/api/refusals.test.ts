import { describe, expect, test } from "bun:test";
import { CHAT } from "../../../src/core/access/limits.ts";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { chatBody, errorOf, until } from "../../support/api/api-world.ts";
import { expectRefusal } from "../../support/api/expect-refusal.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { silence, textBatch, wholeReply } from "../../support/fakes/scripted-chat.ts";
import type { AccountTerms, TestAccount } from "../../support/stores/accounts.ts";

const api = await sharedApi();

describe("a refused chat call", () => {
  const cases: readonly (readonly [ErrorCode, AccountTerms, body: unknown])[] = [
    ["account_inactive", { state: "suspended" }, chatBody()],
    ["payment_required", { reversed: "2" }, chatBody()],
    ["ip_not_allowed", { ip: ["192.0.2.0/24"] }, chatBody()],
    ["insufficient_scope", { scopes: ["search"] }, chatBody()],
    ["body_too_large", {}, "x".repeat(CHAT.bodyBytesMax + 1)],
    ["invalid_json", {}, "{"],
    ["messages_required", {}, {}],
    ["invalid_parameter", {}, chatBody({ temperature: 3 })],
    ["model_not_found", {}, chatBody({ model: "__proto__" })],
    ["insufficient_credits", { free: "0.000001" }, chatBody()],
  ];
  for (const [code, options, body] of cases) {
    test(`is answered ${code}, counted, logged and charged nothing`, async () => {
      const account = await api.account(options);
      const response = await api.post(account, body as object);
      await expectRefusal(response, code);
      expect(response.headers.get("x-ratelimit-limit-requests")).toBe("20");
      expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("19");
      const [entry] = await api.journal(account);
      expect(entry).toMatchObject({
        type: "refused",
        request: response.headers.get("x-request-id"),
      });
      expect(entry?.outcome).toStartWith(code);
      expect((await api.view(account)).monthSpent as bigint).toBe(0n);
    });
  }

  test("is answered model_unavailable while chat or its model is paused", async () => {
    const account = await api.account();
    for (const target of ["chat", "model:test-model"]) {
      api.paused.clear();
      api.paused.add(target);
      await expectRefusal(await api.post(account, chatBody()), "model_unavailable");
    }
    api.paused.clear();
    api.paused.add("model:paid-only");
    expect((await api.post(account, chatBody())).status).toBe(200);
  });

  test("is answered the first applying row of the error table", async () => {
    api.paused.add("chat");
    const order: readonly (readonly [ErrorCode, AccountTerms, body: unknown])[] = [
      ["account_inactive", { state: "suspended", ip: ["192.0.2.1"], scopes: [] }, "{"],
      ["ip_not_allowed", { ip: ["192.0.2.1"], scopes: [] }, "{"],
      ["insufficient_scope", { scopes: ["mail"], free: "0.000001" }, "{"],
      ["body_too_large", { free: "0.000001" }, `{${" ".repeat(CHAT.bodyBytesMax)}`],
      ["invalid_json", { free: "0.000001" }, "{"],
      ["messages_required", { free: "0.000001" }, { temperature: 9 }],
      ["invalid_parameter", { free: "0.000001" }, chatBody({ model: "no", temperature: 9 })],
      ["model_not_found", { free: "0.000001" }, chatBody({ model: "no" })],
      ["model_unavailable", { free: "0.000001" }, chatBody()],
    ];
    for (const [code, options, body] of order) {
      const account = await api.account(options);
      await expectRefusal(await api.post(account, body as object), code);
    }
  });

  test("names no model in the log that does not exist", async () => {
    const account = await api.account();
    await api.post(account, chatBody({ model: "a secret of mine" }));
    await api.post(account, chatBody({ max_tokens: 10_000_000 }));
    expect(JSON.stringify(await api.journal(account))).not.toContain("secret");
  });
});

describe("the request window", () => {
  test("passes exactly its limit of parallel requests and asks the rest to wait", async () => {
    const account = await api.account();
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        // Eight are chats, as many as may be open at once. The others are refused for their body.
        api.post(account, index % 5 === 0 ? chatBody() : chatBody({ temperature: 9 })),
      ),
    );
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(20);
    for (const response of refused) await expectRefusal(response, "rate_limit_exceeded");
  });

  test("outranks a bad body, and is outranked by a suspended account", async () => {
    const account = await api.account();
    for (let count = 0; count < 20; count++) await api.post(account, chatBody());
    await expectRefusal(await api.post(account, "{"), "rate_limit_exceeded");
    await expectRefusal(await api.get("/v1/me", account), "rate_limit_exceeded");
    await api.change(account, { state: "suspended" });
    await expectRefusal(await api.post(account, "{"), "account_inactive");
  });
});

describe("streams", () => {
  test("open only as many as the tier has, and a slot is free again after the end", async () => {
    const account = await api.account();
    api.chat.batches = async function* (_request, { signal }) {
      yield textBatch("a");
      await silence(signal);
    };
    const leaving = new AbortController();
    const open = () => api.post(account, chatBody({ stream: true }), { signal: leaving.signal });
    const streams = await Promise.all([open(), open()]);
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await expectRefusal(await open(), "too_many_streams");
    expect((await api.post(account, chatBody())).status).toBe(200);
    leaving.abort();
    await until(() => api.openCalls === 0, "the slots were freed");
    expect((await api.view(account)).openStreams).toBe(0);
  });
});

describe("open calls", () => {
  const OPEN = 8;

  test("are bounded by the tier, streamed or not, and free again after their end", async () => {
    const account = await api.account({ free: "5" });
    const hanging = Promise.withResolvers<void>();
    api.chat.reply = async () => {
      await hanging.promise;
      return wholeReply("Hello");
    };
    const before = api.openCalls;
    const open = Array.from({ length: OPEN }, () => api.post(account, chatBody()));
    await until(() => api.openCalls === before + OPEN, "all of them are open");
    const more = await api.post(account, chatBody());
    expect(more.headers.get("retry-after")).toBe("1");
    await expectRefusal(more, "rate_limit_exceeded");
    const { message } = await errorOf(await api.post(account, chatBody()));
    expect(message).toContain(`${OPEN} calls open at once`);
    await expectRefusal(await api.post(account, chatBody({ stream: true })), "too_many_streams");
    expect((await api.post(await api.account({ free: "5" }), "{}")).status).toBe(400);
    hanging.resolve();
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual(Array(OPEN).fill(200));
    expect((await api.post(account, chatBody())).status).toBe(200);
  });
});

describe("a request without a valid key", () => {
  const unknown = { key: "" } as Pick<TestAccount, "key">;

  test("is answered missing_api_key or invalid_api_key with its address's window", async () => {
    const revoked = await api.account();
    await api.revoke(revoked);
    const application = await api.account({ surface: "application" });
    const missing = await api.post(null, chatBody());
    await expectRefusal(missing, "missing_api_key");
    expect(missing.headers.get("x-ratelimit-limit-requests")).toBe("60");
    const told: string[] = [];
    for (const account of [revoked, application, { key: "nonsense" }]) {
      const response = await api.post(account, chatBody());
      expect(response.status).toBe(401);
      told.push(JSON.stringify(await errorOf(response)));
    }
    expect(new Set(told).size).toBe(1);
    expect(told[0]).toContain("invalid_api_key");
    await expectRefusal(await api.get("/v1/me"), "missing_api_key");
    await expectRefusal(await api.get(`/v1/me?api_key=${revoked.key}`), "missing_api_key");
    expect(unknown.key).toBe("");
  });

  test("is answered rate_limit_exceeded when its address sends too many", async () => {
    const account = await api.account();
    for (let count = 0; count < 60; count++) await api.post(null, chatBody());
    await expectRefusal(await api.post(null, chatBody()), "rate_limit_exceeded");
    await expectRefusal(await api.get("/v1/models"), "rate_limit_exceeded");
    await expectRefusal(await api.get("/v1/nothing"), "not_found");
    expect((await api.post(account, chatBody())).status).toBe(200);
  });
});

describe("routes", () => {
  test("that end with a slash are 404, and the message says so", async () => {
    const account = await api.account();
    const response = await api.postTo("/v1/chat/completions/", account, chatBody());
    expect(response.status).toBe(404);
    const { code, message } = await errorOf(response);
    expect(code).toBe("not_found");
    expect(message).toStartWith("There is no POST /v1/chat/completions/, which ends with a slash.");
    expect(message).toContain("Did you mean POST /v1/chat/completions?");
  });
});
