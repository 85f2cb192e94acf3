import { expect, test } from "bun:test";
import { FULL, QUICK, QUICK_COMPARISON, readOptions } from "../../../bench/options.ts";

test("without arguments the bench compares with its peers, at full length", () => {
  expect(readOptions([])).toEqual({ mode: "peers", length: FULL, jsonFile: null });
  expect(readOptions(["--quick", "--json", "a.json"])).toEqual({
    mode: "peers",
    length: QUICK,
    jsonFile: "a.json",
  });
});

test("--against takes the ref that follows it", () => {
  expect(readOptions(["--against", "db86232"])).toEqual({
    mode: "against",
    ref: "db86232",
    length: FULL,
    jsonFile: null,
  });
  expect(readOptions(["--quick", "--against=v1.2~3"])).toMatchObject({
    ref: "v1.2~3",
    length: QUICK_COMPARISON,
  });
});

test("--accounts goes up to a million, and to a tenth of that with --quick", () => {
  expect(readOptions(["--accounts"])).toMatchObject({ counts: [1, 10_000, 1_000_000] });
  expect(readOptions(["--accounts", "--quick"])).toMatchObject({ counts: [1, 10_000, 100_000] });
});

test("--masters compares one Redis with a Cluster, at the usual length", () => {
  expect(readOptions(["--masters"])).toEqual({ mode: "masters", length: FULL, jsonFile: null });
});

test("--doors compares the doors with each other", () => {
  expect(readOptions(["--doors"])).toEqual({ mode: "doors", length: FULL, jsonFile: null });
});

test("--parts compares calls with and without limits", () => {
  expect(readOptions(["--parts"])).toEqual({ mode: "parts", length: FULL, jsonFile: null });
});

test("--refusals measures refused requests", () => {
  expect(readOptions(["--refusals", "--quick"])).toEqual({
    mode: "refusals",
    isQuick: true,
    jsonFile: null,
  });
});

test("options that make no sense are refused by their name", () => {
  for (const [args, message] of [
    [["--agianst", "main"], "--agianst"],
    [["main"], "main"],
    [["--against"], "against"],
    [["--against", ""], "git ref"],
    [["--against=--output=/x"], "git ref"],
    [["--against", "main", "--accounts"], "cannot be used together"],
    [["--accounts", "--masters"], "cannot be used together"],
    [["--refusals", "--masters"], "cannot be used together"],
  ] as const) {
    expect(() => readOptions(args)).toThrow(message);
  }
});
