// Tests that a list of ids returns each added id, however many and however written.

import { expect, test } from "bun:test";
import { RequestIds } from "../../../actors/request-ids.ts";
import { newId } from "../../../src/core/ids.ts";

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

test("a new list of ids is empty", () => {
  const ids = new RequestIds();
  expect(ids.isEmpty).toBe(true);
  expect(ids.toArray()).toEqual([]);
});

test("every id comes back, in order, while the list grows", () => {
  const added: string[] = [];
  const ids = new RequestIds();
  for (let count = 0; count < 5_000; count += 1) {
    const id = newId("request", random);
    added.push(id);
    ids.add(id);
  }
  expect(ids.isEmpty).toBe(false);
  expect(ids.toArray()).toEqual(added);
});

test("ids of any length and of any letters come back", () => {
  const added = ["", "a", "é".repeat(700), "€".repeat(700), "😀".repeat(700), "x".repeat(5_000)];
  const ids = new RequestIds();
  for (const id of added) ids.add(id);
  expect(ids.toArray()).toEqual(added);
});
