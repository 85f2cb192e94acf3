import { describe, expect, test } from "bun:test";
import type { EstimateReply } from "../../../src/console/playground-schema.ts";
import { type NanoUsd, usd } from "../../../src/core/money/money.ts";
import type { KeysReply } from "../../../src/readings/keys.ts";
import type { LimitsReply } from "../../../src/readings/limits.ts";
import { revokePlaygroundKeys } from "../../../workers/playground-keys.ts";
import { type CompletionJson, chatBody } from "../../support/api/api-world.ts";
import { ConsoleWorld, type Somebody } from "../../support/api/console-world.ts";
import { eventually } from "../../support/eventually.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const CHAT = "/v1/chat/completions";

const world = await shared(ConsoleWorld.start());

const pathOf = ({ id }: TestAccount) => `/accounts/${id}/playground`;

function call<Body>(who: Somebody, account: TestAccount, path: string, body: object) {
  return world.post<Body>(who, pathOf(account), { path, body });
}

/** The database's rows of the account's playground keys. */
async function keysOf({ id }: TestAccount) {
  const { sql } = world.api.parts.stores.database;
  return await sql<{ id: string; revoked: boolean; session: string; digest: string }[]>`
    SELECT k.id, k.revoked_at IS NOT NULL AS revoked, k.session, k.digest
    FROM keys k JOIN accounts a ON a.number = k.account
    WHERE a.id = ${id} AND k.expires_at IS NOT NULL ORDER BY k.number`;
}

async function spent({ id, bucket }: TestAccount): Promise<bigint> {
  return (await world.api.parts.stores.actors.of(id, bucket).state()).wallet.spent;
}

describe("a call of the playground", () => {
  test("is a real call: held, charged, logged by its own key, which is never shown", async () => {
    const account = await world.account();
    const { body, headers } = await call<CompletionJson>("billing", account, CHAT, chatBody());
    expect(body.svc.cost_usd).toBeGreaterThan(0);
    expect(headers.get("x-request-id")).toBe(body.svc.request_id);
    expect(headers.get("x-svc-cost-usd")).toBe(String(body.svc.cost_usd));
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("19");
    expect(Number(await spent(account)) / 1e9).toBe(body.svc.cost_usd);
    const [entry] = await world.api.journal(account);
    expect(entry).toMatchObject({ type: "call", request: body.svc.request_id });
    const [key, ...others] = await keysOf(account);
    expect([key?.session, others]).toEqual(["session_billing", []]);
    expect(JSON.stringify([body, ...headers])).not.toContain("svc_live_");
  });

  test("streams as the API does", async () => {
    const account = await world.account();
    const response = await fetch(`${world.api.parts.url}/console/api${pathOf(account)}`, {
      method: "POST",
      headers: {
        cookie: "session=owner",
        "content-type": "application/json",
        origin: world.api.parts.url,
      },
      body: JSON.stringify({ path: CHAT, body: chatBody({ stream: true }) }),
    });
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const text = await response.text();
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(text).toContain('"cost_usd"');
    await eventually("it is charged", async () => (await spent(account)) > 0n);
  });

  test("uses one key for a session, and another for the next session", async () => {
    const account = await world.account();
    await Promise.all([1, 2, 3].map(() => call("admin", account, CHAT, chatBody())));
    await call("owner", account, CHAT, chatBody());
    const sessions = (await keysOf(account)).map(({ session }) => session);
    expect(sessions.toSorted()).toEqual(["session_admin", "session_owner"]);
    const { body } = await world.get<KeysReply>("owner", `/accounts/${account.id}/keys`);
    expect(body.keys.map(({ id }) => id)).toEqual([account.keyId]);
  });

  test("is refused as the API would refuse it, and charges nothing", async () => {
    const account = await world.account({ free: "0", paid: "5" });
    const unknown = await call("owner", account, CHAT, chatBody({ model: "nothing" }));
    expect(unknown).toMatchObject({ status: 404, code: "model_not_found" });
    const wrong = await call("owner", account, "/v1/maps", { action: "dance" });
    expect(wrong).toMatchObject({ status: 400, code: "invalid_action" });
    const tier = await call("owner", account, "/v1/mail/send", { subject: "a", text: "b" });
    expect(tier).toMatchObject({ status: 403, code: "tier_required" });
    expect(await spent(account)).toBe(0n);
  });

  test("searches and asks for places", async () => {
    const account = await world.account({ paid: "5" });
    const search = await call<{ svc: object }>("owner", account, "/v1/search", { query: "tea" });
    expect([search.status, search.message]).toEqual([200, undefined]);
    const parameters = { action: "geocode", query: "Berlin", limit: 1 };
    const maps = await call<{ action: string }>("owner", account, "/v1/maps", parameters);
    expect([maps.status, maps.message, maps.body.action]).toEqual([200, undefined, "geocode"]);
  });

  test("mails to the signed-in person, whatever the page says", async () => {
    const account = await world.account({ contract: "enterprise", paid: "5" });
    const message = { to: ["somebody@example.org"], subject: "Hello", text: "Hello" };
    const sent = await call<{ recipients: number }>("owner", account, "/v1/mail/send", message);
    expect(sent.body.recipients).toBe(1);
    const { sql } = world.api.parts.stores.database;
    const [row] = await sql`
      SELECT m.domains FROM mail_messages m
      JOIN accounts a ON a.number = m.account WHERE a.id = ${account.id}`;
    expect(row?.domains).toEqual(["example.com"]);
  });

  test.each([
    [{ path: "/v1/me", body: {} }, "path must be one of"],
    [{ path: "/api/v1/chat/completions", body: {} }, "path is of another surface"],
    [{ path: CHAT }, "body must be an object"],
    [{ path: CHAT, body: chatBody(), max_cost_usd: "much" }, "max_cost_usd must be an amount"],
    [{ path: CHAT, body: chatBody(), max_cost_usd: "0" }, "max_cost_usd must be above 0"],
    [{ path: "/v1/maps", body: { action: ["geocode"] } }, "body.action must be a string"],
  ])("%j is refused by name", async (fields, message) => {
    const account = await world.account();
    const told = await world.post("owner", pathOf(account), fields);
    expect(told).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(told.message).toStartWith(message);
  });

  test("of an application account goes to its own API", async () => {
    const account = await world.account({ surface: "application", paid: "5" });
    const path = "/api/v1/chat/completions";
    const told = await call<CompletionJson>("owner", account, path, chatBody());
    expect(told.body.svc.cost_usd).toBeGreaterThan(0);
  });

  test("is no fault of ours if the Host is missing", async () => {
    const consoleUrl = "https://console.test";
    await using own = await ConsoleWorld.start(() => ({ services: { consoleUrl } }));
    const account = await own.account();
    for (const path of [pathOf(account), `${pathOf(account)}/estimate`]) {
      const response = await fetch(`${own.api.parts.url}/console/api${path}`, {
        method: "POST",
        headers: {
          cookie: "session=owner",
          "content-type": "application/json",
          origin: consoleUrl,
          host: "no host",
        },
        body: JSON.stringify({ path: CHAT, body: chatBody() }),
      });
      expect(response.status).toBe(400);
    }
    expect(own.api.errors).toEqual([]);
  });

  test("is not for viewers or strangers", async () => {
    const account = await world.account();
    for (const path of [pathOf(account), `${pathOf(account)}/estimate`]) {
      const body = { path: CHAT, body: chatBody() };
      expect((await world.post("viewer", path, body)).code).toBe("role_required");
      expect((await world.post("stranger", path, body)).code).toBe("account_not_found");
    }
    expect(await keysOf(account)).toHaveLength(0);
  });
});

describe("an estimate", () => {
  const estimate = (account: TestAccount, path: string, body: object) =>
    world.post<EstimateReply>("owner", `${pathOf(account)}/estimate`, { path, body });

  test("is the amount that the call holds, and counts, holds and logs nothing", async () => {
    const account = await world.account({ paid: "5" });
    const told = await estimate(account, CHAT, chatBody({ max_tokens: 100 }));
    expect(told.body.spendable_usd).toBe("5");
    expect(await world.api.journal(account)).toEqual([]);
    expect(await world.api.holdRecords(account)).toEqual([]);
    const path = `/accounts/${account.id}/limits`;
    const { body } = await world.get<LimitsReply>("owner", path);
    expect(body.requests.keys.map(({ used }) => used)).toEqual([0]);
    const { chat } = world.api;
    const { reply } = chat;
    const gate = Promise.withResolvers<void>();
    chat.reply = async (...asked) => {
      await gate.promise;
      return await reply(...asked);
    };
    const answer = world.api.post(account, chatBody({ max_tokens: 100 }));
    let held = 0n;
    await eventually("the call holds", async () => {
      held = (await world.api.holdRecords(account))[0]?.paid ?? 0n;
      return held > 0n;
    });
    gate.resolve();
    await answer;
    chat.reply = reply;
    expect(usd(told.body.hold_usd)).toBe(held as NanoUsd);
  });

  test("of search, maps and mail is their price", async () => {
    const account = await world.account({ contract: "enterprise", paid: "5" });
    const holds = await Promise.all([
      estimate(account, "/v1/search", { query: "tea", max_results: 4 }),
      estimate(account, "/v1/maps", { action: "geocode", query: "Berlin" }),
      estimate(account, "/v1/mail/send", { subject: "a", text: "b" }),
    ]);
    const [search, maps, mail] = holds.map(({ body }) => body.hold_usd);
    expect(usd(search ?? "0") % 4n).toBe(0n);
    expect([maps, mail]).toEqual(["0.00005", "0.0015"]);
    expect(await world.api.journal(account)).toEqual([]);
  });

  test("of a capped call is at most the cap, and so is what the call costs", async () => {
    const account = await world.account({ paid: "5" });
    const body = chatBody({ max_tokens: 30_000 });
    const capped = { path: CHAT, body, max_cost_usd: "0.001" };
    const told = await world.post<EstimateReply>("owner", `${pathOf(account)}/estimate`, capped);
    expect(Number(told.body.hold_usd)).toBeLessThanOrEqual(0.001);
    const { body: reply } = await world.post<CompletionJson>("owner", pathOf(account), capped);
    expect(reply.svc.cost_usd).toBeLessThanOrEqual(0.001);
    expect(world.api.chat.requests.at(-1)?.maxTokens).toBeLessThan(500);
    const low = { ...capped, max_cost_usd: "0.0000001" };
    for (const path of [pathOf(account), `${pathOf(account)}/estimate`]) {
      const refused = await world.post("owner", path, low);
      expect(refused).toMatchObject({ status: 402, code: "max_cost_exceeded" });
    }
  });

  test("leaves out free credit if it cannot pay for the call", async () => {
    const account = await world.account({ contract: "enterprise", paid: "5", free: "1" });
    const told = await Promise.all([
      estimate(account, CHAT, chatBody()),
      estimate(account, CHAT, chatBody({ model: "paid-only" })),
      estimate(account, "/v1/search", { query: "tea" }),
      estimate(account, "/v1/mail/send", { subject: "a", text: "b" }),
    ]);
    expect(told.map(({ body }) => body.spendable_usd)).toEqual(["6", "5", "5", "5"]);
  });

  test("refuses a service that the account does not have", async () => {
    const account = await world.account();
    const refused = await estimate(account, "/v1/search", { query: "tea" });
    expect(refused).toMatchObject({ status: 403, code: "tier_required" });
    const suspended = await world.account({ state: "suspended", stateReason: "operator" });
    const inactive = await estimate(suspended, CHAT, chatBody());
    expect(inactive).toMatchObject({ status: 403, code: "account_inactive" });
  });

  test("refuses a call that the API would refuse", async () => {
    const account = await world.account();
    const told = await estimate(account, CHAT, chatBody({ max_tokens: 0 }));
    expect(told).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(await world.api.journal(account)).toEqual([]);
  });
});

test("a key of the playground ends with its session or its time, and is then refused", async () => {
  const account = await world.account();
  await call("owner", account, CHAT, chatBody());
  const { database, actors } = world.api.parts.stores;
  // The people of these tests have no rows, so their sessions count as ended.
  const deps = { database, accounts: actors, now: async () => Date.now(), log: silent };
  expect(await revokePlaygroundKeys(deps)).toBeGreaterThan(0);
  expect((await keysOf(account)).map(({ revoked }) => revoked)).toEqual([true]);
  const refused = await call("owner", account, CHAT, chatBody());
  expect(refused).toMatchObject({ status: 401, code: "invalid_api_key" });
  expect((await call("owner", account, CHAT, chatBody())).status).toBe(200);
  expect((await keysOf(account)).map(({ revoked }) => revoked)).toEqual([true, false]);
});
