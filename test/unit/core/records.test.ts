import { expect, test } from "bun:test";
import { nano } from "../../../src/core/money/money.ts";
import {
  integer,
  jsonFrom,
  jsonOf,
  listOf,
  nested,
  nullable,
  publicId,
  sampleOf,
  text,
  time,
  usdField,
  word,
} from "../../../src/core/records.ts";

const Order = {
  id: publicId("request", { sample: "req_7n42DGM5Tflk9n8mt7Fhc7" }),
  last_four: text({ sample: "4242" }),
  state: word(["open", "closed"], { sample: "open" }),
  tries: integer({ sample: 2 }),
  month_spent_usd: usdField({ sample: "0.5" }),
  ended_at: nullable(time({ sample: "2026-11-22T14:00:00.000Z" }), { sample: null }),
  limits_usd: listOf(usdField({ sample: "1" })),
  card: nested({ brand: text({ sample: "visa" }) }),
};

const JSON_OF_ORDER = {
  id: "req_0000000000000000000001",
  last_four: "4242",
  state: "closed" as const,
  tries: 3,
  month_spent_usd: "0.000000001",
  ended_at: "2026-11-22T14:00:00.000Z",
  limits_usd: ["1", "-2.5"],
  card: { brand: "amex" },
};

const UUID = "00000000-0000-0000-0000-000000000001";
const [CARD, ENDED] = [{ brand: "amex" }, new Date("2026-11-22T14:00:00Z")];

test("an object's members are written under the fields' names, amounts with their unit", () => {
  const toJson = jsonFrom(Order);
  const order = {
    id: UUID,
    lastFour: "4242",
    state: "closed",
    tries: 3,
    monthSpent: nano(1n),
    endedAt: ENDED,
    limits: [nano(1_000_000_000n), -2_500_000_000n],
    card: CARD,
    notShown: "secret",
  } as const;
  expect(toJson(order)).toEqual(JSON_OF_ORDER);
  expect(toJson({ ...order, endedAt: null }).ended_at).toBeNull();
});

test("a row of Postgres is written by its columns, and one that lacks a column is a fault", () => {
  const row = {
    id: UUID,
    last_four: "4242",
    state: "closed",
    tries: "3",
    month_spent_usd: "1",
    ended_at: ENDED,
    limits_usd: ["1000000000", "-2500000000"],
    card: CARD,
  };
  expect(jsonOf(Order, row)).toEqual(JSON_OF_ORDER);
  expect(() => jsonOf(Order, { ...row, tries: undefined })).toThrow("no column tries");
});

test("the sample of a record has those of its fields, and lists with one item", () => {
  const { ended_at, limits_usd, card } = sampleOf(Order);
  expect({ ended_at, limits_usd, card }).toEqual({
    ended_at: null,
    limits_usd: ["1"],
    card: { brand: "visa" },
  });
});
