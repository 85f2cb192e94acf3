import { expect, test } from "bun:test";
import { OpenWork } from "../../../src/core/open-work.ts";

/** Counts how often each name was begun; a name with "bad" in it fails. */
function counted() {
  const work = new OpenWork<string>();
  const begun: string[] = [];
  const ask = (name: string) =>
    work.share(name, async () => {
      begun.push(name);
      await Promise.resolve();
      if (name.includes("bad")) throw new Error(`${name} failed`);
      return name;
    });
  return { begun, ask };
}

test("callers at the same time share the work of a name", async () => {
  const { begun, ask } = counted();
  expect(await Promise.all([ask("a"), ask("b"), ask("a")])).toEqual(["a", "b", "a"]);
  expect(begun).toEqual(["a", "b"]);
});

test("work that has ended is begun again by the next caller", async () => {
  const { begun, ask } = counted();
  await ask("a");
  await ask("a");
  expect(begun).toEqual(["a", "a"]);
});

test("a failure reaches all who share it, and the next caller begins again", async () => {
  const { begun, ask } = counted();
  const failures = await Promise.allSettled([ask("bad"), ask("bad")]);
  expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(ask("bad")).rejects.toThrow("bad failed");
  expect(begun).toEqual(["bad", "bad"]);
});
