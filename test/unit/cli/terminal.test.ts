// Tests that the output of a command controls no terminal: names, addresses and programs come from
// strangers.

import { expect, test } from "bun:test";
import { visible } from "../../../src/cli/visible.ts";
import { cliOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

/** Clears the screen, in two spellings; returns to the start of the line; reverses the line. */
const HOSTILE = "\u001b[2J \u009b2J \roverwritten \u202ereversed\u2028";
const SEEN = "\\u001b[2J \\u009b2J \\u000doverwritten \\u202ereversed\\u2028";

test("a message shows control characters as digits", async () => {
  const { code, err } = await cli("account", "show", HOSTILE);
  expect([code, err]).toEqual([2, `'${SEEN}' is not the id of an account (acct_…)\n`]);
});

test("JSON has the same value, written so that it does not control a terminal either", async () => {
  const { out } = await cli("account", "show", HOSTILE, "--json");
  expect(out).toContain("\\u009b2J \\roverwritten \\u202ereversed\\u2028");
  expect(JSON.parse(out).error.message).toContain(HOSTILE);
});

test("texts of several lines, tables and files of Windows stay unchanged", () => {
  const text = "a\tb\r\nc\nd — 小明 🦊 é";
  expect(visible(text)).toBe(text);
});
