import { describe, expect, test } from "bun:test";
import {
  endedRefusal,
  keyChangeWords,
  keyLimitsOf,
  mayCallModel,
  modelRefusal,
} from "../../../../src/core/access/key-limits.ts";
import { ApiError } from "../../../../src/core/errors.ts";
import { futureFrom, modelsFrom } from "../../../../src/core/text/field-rules.ts";

describe("patterns of models", () => {
  test.each([
    ["gpt-5", "gpt-5", true],
    ["gpt-5", "gpt-5-mini", false],
    ["gpt-5", "GPT-5", false],
    ["gpt-5*", "gpt-5", true],
    ["gpt-5*", "gpt-5-mini", true],
    ["gpt-5*", "not-gpt-5", false],
    ["*-mini", "gpt-5-mini", true],
    ["*-mini", "gpt-5-mini-2", false],
    ["a*b*c", "abc", true],
    ["a*b*c", "a-c-b-c", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["ab*ba", "abba", true],
    ["*", "anything/of:any+kind", true],
    ["**", "x", true],
    ["a.c", "abc", false],
    ["org/*@2", "org/model@2", true],
  ])("'%s' matches '%s': %p", (pattern, id, matches) => {
    expect(mayCallModel([pattern], id)).toBe(matches);
    expect(mayCallModel(["none-of-these", pattern], id)).toBe(matches);
  });

  test("a key without patterns may call every model, one with none of them no model", () => {
    expect(mayCallModel(null, "m")).toBeTrue();
    expect(mayCallModel([], "m")).toBeFalse();
  });

  test("a pattern of many stars needs no more time than its length", () => {
    expect(mayCallModel([`${"*a".repeat(64)}`], "a".repeat(63))).toBeFalse();
    expect(mayCallModel([`${"*a".repeat(64)}`], "a".repeat(64))).toBeTrue();
  });

  test.each([[[]], [["a b"]], [["a,b"]], [["é"]], [[""]], [["x".repeat(129)]]])(
    "%j are refused in words",
    (words) => {
      expect(() => modelsFrom(words)).toThrow(/^must (name 1 to 50 models|contain only ids)/);
    },
  );

  test("a pattern that is given twice counts once, and 50 are enough", () => {
    expect(modelsFrom(["a*", "a*", "b"])).toEqual(["a*", "b"]);
    const many = Array.from({ length: 51 }, (_, index) => `m${index}`);
    expect(modelsFrom(many.slice(1))).toHaveLength(50);
    expect(() => modelsFrom(many)).toThrow("must name 1 to 50 models");
  });
});

describe("the refusal of a model", () => {
  const only = { models: ["swift-*"] };

  test("names the model and those that the key may call", () => {
    expect(modelRefusal(only, { model: "slow" })).toEqual({
      code: "model_not_allowed",
      message: "This key may not call the model 'slow', only swift-*",
      param: "model",
    });
    expect(modelRefusal(only, { model: "swift-1" })).toBeNull();
    expect(modelRefusal({ models: null }, { model: "slow" })).toBeNull();
    expect(modelRefusal(only, { model: null })).toBeNull();
  });

  test("applies to every model that may serve the call", () => {
    const standIns = ["swift-2", "slow"];
    expect(modelRefusal(only, { model: "swift-1", standIns })?.message).toContain("'slow'");
    expect(modelRefusal(only, { model: "swift-1", standIns: ["swift-2"] })).toBeNull();
  });

  test("gives way to a refusal of the call that comes first in the error table", () => {
    const first = new ApiError("invalid_parameter", "first");
    const later = new ApiError("max_cost_exceeded", "later");
    expect(modelRefusal(only, { model: "slow", refusal: first })).toBeNull();
    expect(modelRefusal(only, { model: "slow", refusal: later })).not.toBeNull();
  });
});

describe("the end of a key", () => {
  test("is the first millisecond at which the key is refused", () => {
    const key = keyLimitsOf({ ends_ms: 1_000 });
    expect(endedRefusal(key, 999)).toBeNull();
    expect(endedRefusal(key, 1_000)).toEqual({
      code: "invalid_api_key",
      message: "This API key ended at 1970-01-01T00:00:01.000Z",
    });
    expect(endedRefusal(keyLimitsOf({}), Number.MAX_SAFE_INTEGER)).toBeNull();
  });

  test("must be in the future when it is set", () => {
    const now = Date.parse("2031-01-01T00:00:00Z");
    expect(futureFrom(new Date(now + 1), now).getTime()).toBe(now + 1);
    expect(() => futureFrom(new Date(now), now)).toThrow(
      "must be in the future, but is 2031-01-01",
    );
  });
});

test("a disabled key is refused whenever it would end", () => {
  const key = keyLimitsOf({ disabled: true, ends_ms: 5 });
  expect(endedRefusal(key, 9)).toMatchObject({ message: "This API key is disabled" });
});

test("a change is named in words, without the limits that stay", () => {
  expect(keyChangeWords({})).toBe("");
  expect(keyChangeWords({ isDisabled: true, endsAt: null, models: null })).toBe(
    "disabled; no end; any model",
  );
  const endsAt = new Date("2031-01-01T00:00:00Z");
  expect(keyChangeWords({ isDisabled: false, endsAt, models: ["a", "b", "c", "d"] })).toBe(
    "enabled; ends 2031-01-01T00:00:00.000Z; models a, b, c and 1 more",
  );
});
