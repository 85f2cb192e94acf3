// Tests that requests that need no key count by the key that they have: a valid key has its own
// window, which other callers at its address cannot use up.

import { describe, expect, test } from "bun:test";
import { ApiWorld, errorOf } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { modelReply } from "../../support/api/whole-replies.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const api = await sharedApi();

const MODELS = "/v1/models";
const limitOf = (response: Response) => Number(response.headers.get("x-ratelimit-limit-requests"));
const leftOf = (response: Response) =>
  Number(response.headers.get("x-ratelimit-remaining-requests"));

/** Uses up the window of the address that all tests share. */
async function exhaustAddress(): Promise<void> {
  await Promise.all(Array.from({ length: 61 }, () => api.get(MODELS)));
  expect((await api.get(MODELS)).status).toBe(429);
}

const cases: readonly (readonly [path: string, status: number])[] = [
  [MODELS, 200],
  [`${MODELS}/test-model`, 200],
  [`${MODELS}/nothing`, 404],
  ["/v1/nothing", 404],
];

describe("with a valid key", () => {
  for (const [path, status] of cases) {
    test(`GET ${path} counts in the window of the key, not of its address`, async () => {
      const account = await api.account();
      await api.get("/v1/me", account);
      await exhaustAddress();
      const response = await api.get(path, account);
      expect(response.status).toBe(status);
      expect([limitOf(response), leftOf(response)]).toEqual([20, 18]);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
      expect((await api.view(account)).openCalls).toBe(0);
      expect(await lastLogged(account)).toBe(status);
    });
  }

  test("a method that a path lacks counts there too", async () => {
    const account = await api.account();
    const headers = { "x-api-key": account.key };
    const response = await fetch(api.parts.url + MODELS, { method: "DELETE", headers });
    expect([response.status, limitOf(response), leftOf(response)]).toEqual([405, 20, 19]);
  });

  test("only a full window of the key refuses the list of models", async () => {
    const account = await api.account();
    await Promise.all(Array.from({ length: 20 }, () => api.get(MODELS, account)));
    const response = await api.get(MODELS, account);
    expect(response.status).toBe(429);
    expect((await errorOf(response)).code).toBe("rate_limit_exceeded");
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    // An unknown path is 404, however full the window.
    expect((await api.get("/v1/nothing", account)).status).toBe(404);
    expect((await api.get(MODELS)).status).toBe(200);
  });

  test("a debt, the account's state and its addresses refuse no list of models", async () => {
    const options = [{ reversed: "2" }, { state: "suspended" }, { ip: ["192.0.2.1"] }] as const;
    for (const one of options) {
      const account = await api.account(one);
      const response = await api.get(MODELS, account);
      expect([response.status, limitOf(response)]).toEqual([200, 20]);
      expect(await lastLogged(account)).toBe(200);
      expect((await api.get("/v1/nothing", account)).status).toBe(404);
      expect(await lastLogged(account)).toBe(404);
      expect((await api.get("/v1/me", account)).status).toBeGreaterThan(400);
    }
  });
});

describe("without a valid key", () => {
  test("GET /v1/models needs no key and ignores an invalid one", async () => {
    for (const account of [null, { key: "nonsense" }]) {
      const response = await api.get("/v1/models", account);
      expect(response.status).toBe(200);
      expect(response.headers.get("x-ratelimit-limit-requests")).toBe("60");
      const { object, data } = (await response.json()) as { object: string; data: unknown[] };
      expect(object).toBe("list");
      expect(data[0]).toEqual(modelReply());
    }
  });

  test("the window of the address counts", async () => {
    const revoked = await api.account();
    await api.get("/v1/me", revoked);
    await api.revoke(revoked);
    const application = await api.account({ surface: "application" });
    for (const account of [null, { key: "nonsense" }, revoked, application]) {
      for (const [path, status] of cases) {
        const response = await api.get(path, account);
        expect([response.status, limitOf(response)]).toEqual([status, 60]);
      }
    }
  });
});

test("HEAD /v1/models is GET without its body", async () => {
  const response = await fetch(`${api.parts.url}/v1/models`, { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe("");
});

test("with a key GET /v1/models and 404 go on while Redis is gone", async () => {
  await using other = await ApiWorld.start();
  const account = await other.account();
  await other.get("/v1/me", account);
  await other.parts.stores.server.stop();
  const responses = await Promise.all(
    cases.map(async ([path, status]) => [(await other.get(path, account)).status, status]),
  );
  for (const [told, wanted] of responses) expect(told).toBe(wanted);
});

/** The status in the request log of the account's last request. */
async function lastLogged(account: TestAccount): Promise<number> {
  const entry = (await api.journal(account)).at(-1);
  if (entry?.end) return entry.end.status;
  return /^(?:model_)?not_found /.test(entry?.outcome ?? "") ? 404 : 0;
}
