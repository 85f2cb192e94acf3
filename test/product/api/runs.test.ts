// Tests the header and the endpoints of runs with wrong values.

import { afterEach, describe, expect, test } from "bun:test";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";

const api = await sharedApi();
afterEach(() => api.reset());

test.each(["a%00b", "none", "%F0%9F%99%82", "x".repeat(300)])(
  "the run %s does not exist, for a reader and for a change",
  async (id) => {
    const account = await api.account();
    const path = `/v1/runs/${id}`;
    expect(await errorOf(await api.get(path, account))).toMatchObject({ code: "run_not_found" });
    const change = await api.postTo(path, account, { paused: true });
    expect([change.status, await errorOf(change)]).toMatchObject([404, { code: "run_not_found" }]);
  },
);

test.each([
  ["", "begins with the id"],
  ["a b", "begins with the id"],
  ["one; max-usd=0", "max-usd must be"],
  ["one; max-usd=9007199.254740992", "max-usd must be at most 9007199.254740991"],
  ["one; max-usd=9999999", "max-usd must be at most 9007199.254740991"],
  ["one; max-usd=2; max-usd=3", "has max-usd twice"],
  ["one; ttl=59", "ttl must be"],
  ["one; ttl=1e3", "ttl must be"],
  ["one; step=a b", "step must be"],
  ["one; budget=2", "has no 'budget'"],
])("the header '%s' is refused with its fault, and begins no run", async (header, words) => {
  const account = await api.account({ paid: "5" });
  const reply = await api.post(account, chatBody(), { headers: { "x-svc-run": header } });
  expect(reply.status).toBe(400);
  expect(await errorOf(reply)).toMatchObject({
    code: "invalid_parameter",
    message: expect.stringContaining(words),
  });
  const { sql } = api.parts.stores.database;
  expect(await sql`SELECT FROM runs WHERE account = ${account.row.number}`).toHaveLength(0);
});

test("a run is not raised above the largest amount, and the field is named", async () => {
  const account = await api.account({ paid: "5" });
  await api.post(account, chatBody(), { headers: { "x-svc-run": "one; max-usd=2" } });
  const reply = await api.postTo("/v1/runs/one", account, { max_usd: "9999999" });
  expect(reply.status).toBe(400);
  expect(await errorOf(reply)).toMatchObject({
    code: "invalid_parameter",
    message: "max_usd must be at most 9007199.254740991",
  });
});

describe("a key of the Application API", () => {
  const open = () => api.account({ surface: "application", plan: "max", paid: "9" });
  const headers = { "x-svc-run": "nightly; max-usd=2; step=plan" };

  test.each(["/v1", "/api/v1"])("reads and changes the runs of its account at %s", async (base) => {
    const account = await open();
    const path = `${base}/runs/nightly`;
    const call = () => api.postTo("/api/v1/chat/completions", account, chatBody(), { headers });
    expect((await call()).status).toBe(200);
    await api.parts.stores.flush();
    const shown = await api.get(path, account);
    expect([shown.status, await shown.json()]).toMatchObject([
      200,
      { object: "run", state: "active", max_usd: 2, steps: [{ step: "plan", calls: 1 }] },
    ]);
    const paused = await api.postTo(path, account, { paused: true });
    expect(await paused.json()).toMatchObject({ state: "paused" });
    expect(await errorOf(await call())).toMatchObject({ code: "run_paused" });
    const raised = await api.postTo(path, account, { paused: false, max_usd: "3", ttl: 60 });
    expect(await raised.json()).toMatchObject({ state: "active", max_usd: 3 });
    expect((await call()).status).toBe(200);
  });

  test.each(["/v1", "/api/v1"])("sees no run of another account at %s", async (base) => {
    await api.post(await api.account({ paid: "5" }), chatBody(), { headers });
    for (const change of [null, { paused: true }]) {
      const path = `${base}/runs/nightly`;
      const account = await open();
      const reply = await (change === null
        ? api.get(path, account)
        : api.postTo(path, account, change));
      expect([reply.status, (await errorOf(reply)).code]).toEqual([404, "run_not_found"]);
    }
  });

  test("is refused at /api/v1 if it is a Gateway's", async () => {
    const account = await api.account({ paid: "5" });
    for (const path of ["/api/v1/runs/nightly", "/api/v1/end-user"]) {
      const reply = await api.get(path, account);
      expect([reply.status, (await errorOf(reply)).code]).toEqual([401, "invalid_api_key"]);
    }
  });
});

test("a run does not show the calls of a deleted run that had its id", async () => {
  const account = await api.account({ paid: "5" });
  const { database, flush } = api.parts.stores;
  const { sql } = database;
  const call = async (step: string) => {
    const headers = { "x-svc-run": `again; max-usd=2; step=${step}` };
    expect((await api.post(account, chatBody(), { headers })).status).toBe(200);
    await flush();
  };
  const sums = async () => {
    const reply = await api.get("/v1/runs/again", account);
    const { services, models, steps } = (await reply.json()) as Record<string, { calls: number }[]>;
    return { services, models, steps };
  };
  const once = [expect.objectContaining({ calls: 1 })];
  await call("old");
  expect((await sums()).steps).toEqual([expect.objectContaining({ step: "old", calls: 1 })]);
  // As after the shortest time for which an ended run is kept.
  await sql`
    SELECT ensure_request_log_partition(date_trunc('month', now() - interval '1 day')::date)`;
  await sql`
    UPDATE request_log SET at = at - interval '1 day' WHERE account = ${account.row.number}`;
  await sql`DELETE FROM runs WHERE account = ${account.row.number}`;
  await sql`UPDATE accounts SET version = version + 1 WHERE number = ${account.row.number}`;
  await account.actor.configure();
  await call("new");
  expect(await sums()).toEqual({
    services: once,
    models: once,
    steps: [expect.objectContaining({ step: "new", calls: 1 })],
  });
});
