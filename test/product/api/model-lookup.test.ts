// Tests GET /v1/models/{id}, as clients of OpenAI request a model, on both surfaces.

import { describe, expect, test } from "bun:test";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { mustBeDocumented } from "../../support/api/contract.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const ALIASED: ModelEntry = { ...MODEL, id: "large", aliases: ["claude-large", "claude-l*"] };
const RANKS: ModelEntry = { ...MODEL, id: "ranks", serves: "rerank" };
const SLASHED: ModelEntry = { ...MODEL, id: "maker/family/m-1:free@x", created: 1_777_593_600 };

const catalogue = catalogueOf([MODEL, SLASHED, ALIASED, RANKS], []);
const api = await sharedApi({ catalogue: () => catalogue });
const accounts: Record<string, TestAccount> = {
  "/v1": await api.account({ contract: "enterprise" }),
  "/api/v1": await api.account({ surface: "application", plan: "max" }),
};

interface Entry {
  readonly id: string;
  readonly created: number;
}

interface AnthropicRefusal {
  readonly type: string;
  readonly error?: { readonly type: string; readonly code: string };
}

interface AnthropicList {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

for (const base of ["/v1", "/api/v1"]) {
  const get = (path: string) => api.get(`${base}/models${path}`, accounts[base]);

  describe(`GET ${base}/models/{id}`, () => {
    test("answers each entry of the list", async () => {
      const { data } = (await (await get("")).json()) as { readonly data: readonly Entry[] };
      expect(data.length).toBeGreaterThan(2);
      for (const entry of data) {
        const response = await get(`/${entry.id}`);
        expect(response.status).toBe(200);
        expect(await response.json()).toEqual(entry as never);
      }
    });

    test("accepts the slashes of an id plain, and percent-encoded", async () => {
      for (const path of [SLASHED.id, encodeURIComponent(SLASHED.id), `${SLASHED.id}?x=1`]) {
        const response = await get(`/${path}`);
        expect(await response.json()).toMatchObject({ id: SLASHED.id, created: SLASHED.created });
      }
    });

    test("is model_not_found for any other id", async () => {
      for (const id of ["nothing", "maker", "maker/family", "__proto__", "a%2", "%zz/b", "a/"]) {
        const response = await get(`/${id}`);
        expect(response.status).toBe(404);
        const { code, message } = await errorOf(response);
        expect(code).toBe("model_not_found");
        expect(message).toContain(`GET ${base}/models lists`);
      }
    });

    test("without an id is a path that ends with a slash", async () => {
      const response = await get("/");
      expect(response.status).toBe(404);
      const { code, message } = await errorOf(response);
      expect(code).toBe("not_found");
      expect(message).toContain("which ends with a slash");
      expect(message).toContain(`Did you mean GET ${base}/models?`);
    });

    test("has GET and HEAD and no other method", async () => {
      const authorization = `Bearer ${accounts[base]?.key}`;
      const send = (method: string, id: string) =>
        fetch(`${api.parts.url}${base}/models/${id}`, { method, headers: { authorization } });
      for (const id of ["test-model", SLASHED.id]) {
        const head = await send("HEAD", id);
        expect([head.status, await head.text()]).toEqual([200, ""]);
        for (const method of ["DELETE", "POST", "PROPFIND"]) {
          const response = await send(method, id);
          expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
        }
      }
    });
  });
}

test("a paused model is in no list of an application", async () => {
  api.paused.add(`model:${MODEL.id}`);
  const path = `models/${MODEL.id}`;
  expect((await api.get(`/api/v1/${path}`, accounts["/api/v1"])).status).toBe(404);
  expect((await api.get(`/v1/${path}`)).status).toBe(200);
});

test("the Gateway's needs no key, the application's does", async () => {
  expect((await api.get(`/v1/models/${MODEL.id}`)).status).toBe(200);
  expect((await api.get(`/api/v1/models/${MODEL.id}`)).status).toBe(401);
});

describe.each(["/v1", "/api/v1"])("a client of Anthropic at %s/models", (base) => {
  const get = async (path = "", account = accounts[base]) => {
    const target = `${base}/models${path}`;
    const response = await fetch(api.parts.url + target, {
      headers: { "anthropic-version": "2023-06-01", "x-api-key": account?.key ?? "" },
    });
    await mustBeDocumented("GET", target, response);
    return response;
  };
  const listOf = async (path: string) => (await (await get(path)).json()) as AnthropicList;
  const idsOf = async (path: string) => (await listOf(path)).data.map(({ id }) => id);

  test("gets the models that chat in its form, with the aliases that are whole names", async () => {
    const { data, ...page } = await listOf("?limit=1000");
    const ids = data.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([MODEL.id, SLASHED.id, "large", "claude-large"]));
    expect(ids).not.toContain("ranks");
    expect(ids.filter((id) => id.endsWith("*"))).toEqual([]);
    expect(page).toEqual({ has_more: false, first_id: ids[0] ?? "", last_id: ids.at(-1) ?? "" });
    expect(data.find(({ id }) => id === SLASHED.id)).toMatchObject({
      type: "model",
      display_name: SLASHED.label,
      created_at: "2026-05-01T00:00:00.000Z",
      svc: { pricing: { input_usd_per_m: 1 } },
    });
  });

  test("gets refusals in its form", async () => {
    const own = await api.account();
    const formOf = async (response: Response) => {
      const { type, error } = (await response.json()) as AnthropicRefusal;
      return [response.status, type, error?.type, error?.code];
    };
    const asked = (path: string, account = accounts[base]) => get(path, account).then(formOf);
    expect(await asked("?limit=0")).toEqual([
      400,
      "error",
      "invalid_request_error",
      "invalid_parameter",
    ]);
    const missing = [404, "error", "not_found_error", "model_not_found"];
    expect(await asked("/unheard-of")).toEqual(missing);
    const post = await fetch(`${api.parts.url}${base}/models`, {
      method: "POST",
      headers: { "anthropic-version": "2023-06-01" },
    });
    const wrong = [405, "error", "invalid_request_error", "method_not_allowed"];
    expect(await formOf(post)).toEqual(wrong);
    if (base === "/api/v1") return;
    const answers = [];
    for (let index = 0; index <= 20; index += 1) answers.push(await asked("", own));
    expect(answers).toContainEqual([429, "error", "rate_limit_error", "rate_limit_exceeded"]);
  });

  test("turns pages in both directions", async () => {
    const all = await idsOf("");
    const [first = "", second = "", third = ""] = all;
    expect(await listOf(`?limit=1&after_id=${first}`)).toMatchObject({
      data: [{ id: second }],
      has_more: true,
    });
    expect(await idsOf(`?limit=1&before_id=${third}`)).toEqual([second]);
    expect(await idsOf(`?after_id=${first}&before_id=${third}`)).toEqual([second]);
    expect(await listOf(`?after_id=${all.at(-1)}`)).toMatchObject({ data: [], first_id: null });
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=1e2", "limit"],
    ["limit=", "limit"],
    ["after_id=nobody", "after_id"],
    ["before_id=", "before_id"],
  ])("is refused %s by name", async (query, field) => {
    const response = await get(`?${query}`);
    expect(response.status).toBe(400);
    const { code, message } = await errorOf(response);
    expect([code, message.split(" ")[0] ?? ""]).toEqual(["invalid_parameter", field]);
  });

  test("finds a model by its id and by every alias", async () => {
    for (const id of ["large", "claude-large", "claude-later"]) {
      expect(await (await get(`/${id}`)).json()).toMatchObject({
        type: "model",
        id,
        display_name: ALIASED.label,
      });
    }
    expect((await get("/claude-x")).status).toBe(404);
  });

  test("is shown only the models that its key may call", async () => {
    const terms = base === "/v1" ? {} : ({ surface: "application", plan: "max" } as const);
    const account = await api.account({ ...terms, models: ["large"] });
    const { data } = (await (await get("", account)).json()) as AnthropicList;
    const own = base === "/v1" ? [] : ["auto"];
    expect(data.map(({ id }) => id)).toEqual([...own, "large", "claude-large"]);
    expect((await get("/claude-large", account)).status).toBe(200);
    expect((await get(`/${MODEL.id}`, account)).status).toBe(404);
  });
});
