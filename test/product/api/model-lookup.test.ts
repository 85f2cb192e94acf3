// Tests GET /v1/models/{id}, as clients of OpenAI request a model, on both surfaces.

import { describe, expect, test } from "bun:test";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const SLASHED: ModelEntry = { ...MODEL, id: "maker/family/m-1:free@x", created: 1_777_593_600 };

const catalogue = catalogueOf([MODEL, SLASHED], []);
const api = await sharedApi({ catalogue: () => catalogue });
const accounts: Record<string, TestAccount> = {
  "/v1": await api.account({ contract: "enterprise" }),
  "/api/v1": await api.account({ surface: "application", plan: "max" }),
};

interface Entry {
  readonly id: string;
  readonly created: number;
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
