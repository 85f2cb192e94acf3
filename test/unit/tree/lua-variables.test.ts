import { expect, test } from "bun:test";
import { SHARED_LUA } from "../../../actors/scripts/shared-lua.ts";

/** Lua's own limit for one function, and a script's top level is one. */
const LOCALS_MAX = 200;
/** The variables that a library declares beside the shared code. */
const LOCALS_OF_LIBRARY = 1;

test("the shared Lua and its library have fewer local variables than Lua allows", () => {
  const names = [...SHARED_LUA.matchAll(/^local (?:function (\w+)|(\w+(?: *, *\w+)*))/gm)];
  const declared = names.flatMap(([, one, several = ""]) => one ?? several.split(/ *, */));
  expect(declared).toContain("begin");
  expect(declared.length + LOCALS_OF_LIBRARY).toBeLessThanOrEqual(LOCALS_MAX);
});
