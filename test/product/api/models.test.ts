import { expect, test } from "bun:test";
import { newKey } from "../../../src/core/access/keys.ts";
import { bandPrices } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { ApiWorld } from "../../support/api/api-world.ts";
import { appAlone } from "../../support/api/app-alone.ts";
import { MODEL } from "../../support/api/models.ts";
import { random } from "../../support/random.ts";

let catalogue = catalogueOf([MODEL], []);

const api = appAlone({ catalogue: () => catalogue });

interface List {
  readonly data: readonly { readonly id: string; readonly svc: { readonly pricing: object } }[];
}

test("GET /v1/models shows the prices of the moment, exactly", async () => {
  const cheap = bandPrices({ input: "0.0375", output: "0.00001", cachedInput: "0.000001" });
  const before = catalogue;
  catalogue = catalogueOf([{ ...MODEL, prices: cheap }], []);
  try {
    const text = await (await api.get("/v1/models")).text();
    expect(text).toContain(
      '{"input_usd_per_m":0.0375,"output_usd_per_m":0.00001,"cached_input_usd_per_m":0.000001}',
    );
  } finally {
    catalogue = before;
  }
});

test("GET /v1/models lists the bands of a model with a higher price for long prompts", async () => {
  const before = catalogue;
  const prices = bandPrices(
    { input: "1", output: "2", promptTokensMax: 1000 },
    { input: "3", output: "4" },
  );
  catalogue = catalogueOf([{ ...MODEL, prices }], []);
  try {
    const { data } = (await (await api.get("/v1/models")).json()) as List;
    expect(data[0]?.svc.pricing).toMatchObject({
      input_usd_per_m: 1,
      bands: [
        { prompt_tokens_max: 1000, input_usd_per_m: 1, output_usd_per_m: 2 },
        { prompt_tokens_max: null, input_usd_per_m: 3, output_usd_per_m: 4 },
      ],
    });
  } finally {
    catalogue = before;
  }
});

test("GET /v1/models and the refusals that need no account go on while Redis is gone", async () => {
  await using other = await ApiWorld.start();
  await other.parts.stores.server.stop();
  const paths = ["/v1/models", "/v1/me", "/v1/nothing", "/healthz", "/readyz"];
  const responses = await Promise.all(paths.map((path) => other.get(path)));
  expect(responses.map(({ status }) => status)).toEqual([200, 401, 404, 200, 503]);
  expect(responses[0]?.headers.get("x-ratelimit-remaining-requests")).toBe("60");
  expect(await responses[4]?.json()).toMatchObject({
    status: "unavailable",
    checks: { redis: expect.stringMatching(/^(failed|late)$/) },
  });
});

test("a paid call while Redis is gone is refused with service_unavailable, not lost", async () => {
  await using other = await ApiWorld.start();
  const account = await other.account();
  await other.parts.stores.server.stop();
  const response = await other.post(account, {
    model: MODEL.id,
    messages: [{ role: "user", content: "x" }],
  });
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ error: { code: "service_unavailable" } });
  expect(response.headers.get("x-ratelimit-limit-requests")).not.toBeNull();
  expect(other.chat.requests).toHaveLength(0);
});

test("a key that cannot be looked up is service_unavailable and not invalid", async () => {
  const find = () => Promise.reject(new Error("secret address of the database"));
  const keys = { known: () => undefined, find, forget: () => {} };
  const authorization = `Bearer ${newKey("gateway", random)}`;
  const response = await appAlone({ keys }).get("/v1/me", { authorization });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await response.text()).not.toContain("secret");
});
