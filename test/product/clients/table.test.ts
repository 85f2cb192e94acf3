// Tests the report of `bun run clients`.

import { expect, test } from "bun:test";
import { type ClientRow, clientTable, failuresOf } from "./table.ts";

const ROW: ClientRow = {
  client: "Some SDK",
  charged: "0.0042",
  surface: "gateway",
  checks: ["chat", "stream", "test_invoke", "test_batch"],
  results: [
    { check: "chat", ok: true },
    { check: "stream", ok: false, detail: "no choice" },
    { check: "test_invoke", ok: true },
  ],
};

test("a check that failed and one that never reported are failures", () => {
  expect(failuresOf(ROW)).toEqual([
    "Some SDK, gateway, stream: no choice",
    "Some SDK, gateway, test_batch: it never ended",
  ]);
});

test("a client whose toolchain is missing has no failures of its own", () => {
  expect(failuresOf({ ...ROW, results: [], missing: "there is no go" })).toEqual([]);
});

test("the table distinguishes passed, failed, absent and skipped checks", () => {
  const { charged: _, ...row } = ROW;
  const skipped = { ...row, client: "Other", results: [], missing: "there is no go" };
  const [, first, second] = clientTable([ROW, skipped]).split("\n");
  expect(first?.split(/ {2,}/).slice(2)).toEqual([
    "ok",
    "FAIL",
    ...Array.from({ length: 8 }, () => "-"),
    "$0.0042",
    "1 of 2 pass",
  ]);
  expect(second?.split(/ {2,}/).slice(2)).toEqual([
    "skip",
    "skip",
    ...Array.from({ length: 8 }, () => "-"),
    "skipped: there is no go",
  ]);
});
