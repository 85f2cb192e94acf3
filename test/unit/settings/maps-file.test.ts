import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ACTIONS, type MapsAction } from "../../../src/services/maps/actions.ts";
import { costOf } from "../../../src/services/maps/prices.ts";
import { DEFAULT_MAPS, type MapsConfig } from "../../../src/services/maps/servers.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";

const parse = (maps: object | string, env: Record<string, string> = {}): MapsConfig => {
  const section = typeof maps === "string" ? maps : JSON.stringify(maps);
  return parseCatalogue(`{ "providers": {}, "models": [],\n"maps": ${section} }`, env).maps;
};
const refusal = (maps: object | string, env: Record<string, string> = {}): string => {
  try {
    parse(maps, env);
  } catch (error) {
    return String(error);
  }
  return "It was not refused";
};

const places = { kind: "nominatim", base_url: "http://10.0.0.6:8080/" };

test("without the section, the embedded provider serves at the prices of the specification", () => {
  const { maps } = parseCatalogue('{ "providers": {}, "models": [] }', {});
  expect(maps).toEqual(DEFAULT_MAPS);
  for (const action of Object.keys(ACTIONS) as MapsAction[]) {
    const isTile = action === "site_image" || action === "site_images";
    expect(costOf(action, maps.prices) as bigint).toBe(isTile ? 5_000n : 50_000n);
  }
});

test("servers, the order of providers and prices are read as they are written", () => {
  const server = JSON.stringify({ ...places, api_key_env: "K", concurrency: 3 });
  const maps = parse(
    `{ "providers": { "places": ${server} },
    "actions": { "geocode": ["places", "embedded"], "poi": [] },
    "standard_usd_per_k": 0.000011, "tiles_usd_per_k": "1" }`,
    { K: "secret" },
  );
  expect(maps.servers.get("places")).toEqual({
    name: "places",
    kind: "nominatim",
    baseUrl: "http://10.0.0.6:8080",
    apiKey: "secret",
    timeoutMs: 10_000,
    concurrencyMax: 3,
  });
  expect([...maps.providers]).toEqual([
    ["geocode", ["places", "embedded"]],
    ["poi", []],
  ]);
  // A price that is finer than a nano-dollar a call is rounded up once, for the call.
  expect(maps.prices.standard as bigint).toBe(11_000n);
  expect(costOf("geocode", maps.prices) as bigint).toBe(11n);
  expect(costOf("site_image", maps.prices) as bigint).toBe(1_000_000n);
});

describe("a file is refused, by path", () => {
  const template = "https://maps.example/{lat}/{lon}/{zoom}.png";
  const cases: readonly (readonly [name: string, maps: object, message: string])[] = [
    ["an unknown kind", { providers: { p: { ...places, kind: "atlas" } } }, "kind must be one of"],
    ["an unknown action", { actions: { teleport: [] } }, "teleport is not allowed here"],
    ["an unknown name", { actions: { geocode: ["q"] } }, "'q' is not under maps.providers"],
    ["a name twice", { actions: { poi: ["embedded", "embedded"] } }, "'embedded' stands twice"],
    ["an action not built in", { actions: { weather: ["embedded"] } }, "does not serve weather"],
    [
      "an action that the kind does not have",
      { providers: { p: places }, actions: { weather: ["p"] } },
      "maps.actions.weather[0] 'p' (nominatim) does not serve weather",
    ],
    ["the reserved name", { providers: { embedded: places } }, "is reserved"],
    [
      "a key in the address",
      { providers: { p: { ...places, base_url: "http://a:b@c" } } },
      "api_key_env",
    ],
    ["a key that is not set", { providers: { p: { ...places, api_key_env: "NO" } } }, "is not set"],
    ["a negative price", { standard_usd_per_k: -1 }, "maps.standard_usd_per_k must be a decimal"],
    ["a price in words", { tiles_usd_per_k: "cheap" }, "maps.tiles_usd_per_k must be a decimal"],
    [
      "a template without a place",
      { providers: { p: { kind: "static-map", base_url: template.replace("{lat}", "1") } } },
      "must have the placeholder {lat}",
    ],
    [
      "a template for the host",
      { providers: { p: { kind: "static-map", base_url: `https://{lat}.example/{lon}/{zoom}` } } },
      "base_url must",
    ],
  ];
  for (const [name, maps, message] of cases) {
    test(name, () => expect(refusal(maps)).toContain(message));
  }
});

test("the example of docs/configuration.md is a good file", async () => {
  const page = await readFile(join(import.meta.dir, "../../../docs/configuration.md"), "utf8");
  const example = [...page.matchAll(/```json\n([\s\S]*?)```/g)]
    .map(([, text]) => text ?? "")
    .find((text) => text.includes('"maps"'));
  const { maps } = parseCatalogue(example ?? "", { TOMTOM_API_KEY: "k" });
  expect([...maps.servers.keys()]).toEqual(["places", "traffic"]);
});
