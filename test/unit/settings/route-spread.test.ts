// Tests the spread of a model's conversations among its routes, in the configuration file.

import { expect, test } from "bun:test";
import { configurationChanges } from "../../../src/settings/catalogue-changes.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";

const BUYING = [{ input_usd_per_m: "1", output_usd_per_m: "2" }];

function textOf(model: object, routes: readonly object[] = [{}, {}], file: object = {}): string {
  const names = ["main", "spare"];
  return JSON.stringify(
    {
      providers: {
        main: { base_url: "http://10.0.0.5/v1" },
        spare: { base_url: "http://10.0.0.6/v1", cache_minutes: 120 },
      },
      models: [
        {
          id: "m",
          label: "M",
          family: "m",
          owned_by: "example",
          context_length: 4_096,
          pricing: [{ input_usd_per_m: "4", output_usd_per_m: "20" }],
          routes: routes.map((route, at) => ({ provider: names[at], model: "m-1", ...route })),
          ...model,
        },
      ],
      ...file,
    },
    null,
    2,
  );
}

const parse = (text: string) => parseCatalogue(text, {});

function refusalOf(...given: Parameters<typeof textOf>): string {
  try {
    parse(textOf(...given));
    return "";
  } catch (error) {
    return String(error);
  }
}

test("a spread, weights, the life of a cache and headers of sessions are read", () => {
  const file = { session_headers: ["X-Session-Id"] };
  const catalogue = parse(textOf({ spread: "weight" }, [{ weight: 3 }, {}], file));
  const model = catalogue.models.get("m");
  expect(model?.spread).toBe("weight");
  expect(model?.routes.map(({ weight }) => weight)).toEqual([3, undefined]);
  const minutes = ["main", "spare"].map((name) => catalogue.providers.get(name)?.cacheMinutes);
  expect(minutes).toEqual([30, 120]);
  expect(catalogue.sessionHeaders).toEqual(["X-Session-Id"]);
});

test("a configuration without a spread keeps its meaning", () => {
  const plain = parse(textOf({}));
  const named = parse(textOf({ spread: "order" }));
  expect(plain.models.get("m")).toEqual(named.models.get("m"));
  expect(plain.models.get("m")).not.toHaveProperty("spread");
  expect(plain.sessionHeaders).toEqual([]);
});

const REFUSED: readonly [string, Parameters<typeof textOf>, string][] = [
  [
    "an unknown spread",
    [{ spread: "random" }],
    "models[0].spread must be one of order, weight, pr",
  ],
  [
    "a weight without a spread",
    [{}, [{ weight: 2 }, {}]],
    "routes[0].weight has no effect without",
  ],
  ["a weight that is no number", [{ spread: "weight" }, [{ weight: "2" }, {}]], "must be a whole"],
  ["a negative weight", [{ spread: "weight" }, [{ weight: -1 }, {}]], "number from 0 to 1000"],
  [
    "weights of 0 alone",
    [{ spread: "weight" }, [{ weight: 0 }, { weight: 0 }]],
    "models[0].routes[0].weight must not be 0 for every route",
  ],
  [
    "a price to compare that is missing",
    [{ spread: "price" }, [{ buying: BUYING }, {}]],
    "models[0].routes[1].buying is missing: the spread by price compares it",
  ],
  ["a header that is none", [{}, [{}, {}], { session_headers: ["a b"] }], "the name of a header"],
  ["too many headers", [{}, [{}], { session_headers: Array(9).fill("x") }], "at most 8 names"],
];

test.each(REFUSED)("%s is refused by name", (_, given, message) => {
  expect(refusalOf(...given)).toContain(message);
});

test("a change of the spread is shown in words", () => {
  const changes = configurationChanges("farebox.config.json", {});
  const before = { version: 1, text: textOf({}) };
  const after = textOf({ spread: "weight" }, [{ weight: 3 }, {}]);
  expect(changes(before, after)).toEqual([
    "model m: by main/m-1, spare/m-1 -> by main/m-1 with weight 3, spare/m-1 (spread by weight)",
  ]);
  const named = textOf({}, [{}, {}], { session_headers: ["x-session-id"] });
  expect(changes(before, named)).toEqual(["sessionHeaders: changed"]);
});
