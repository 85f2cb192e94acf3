// Tests that the commands, calls and programs in the pages work as they stand, and do what their
// page says, with the address, the key and the ids of a running service in place of those of the
// page (D-768).

import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { type Outcome, openDocWorld, type Reader } from "../../support/api/doc-world.ts";
import {
  ANY_SERVICE,
  commandsOf,
  docBlocks,
  isCall,
  isRunHere,
  plainCommand,
  toolArguments,
} from "../../support/doc-blocks.ts";
import { PROMISES, promiseOf } from "../../support/doc-promises.ts";

const world = await openDocWorld();
const blocks = docBlocks().filter(isRunHere);
/** Blocks of calls alone. */
const [calls, others] = [true, false].map((wanted) =>
  blocks.filter((block) => commandsOf(block).every(isCall) === wanted),
) as [typeof blocks, typeof blocks];
const hasCurl = Bun.which("curl") !== null;

describe("the commands", () => {
  const commands = others.flatMap(commandsOf).map(plainCommand);

  test("have a promise each, and each promise is of one", () => {
    expect(commands.filter((command) => promiseOf(command) === null)).toEqual([]);
    const used = new Set(commands.map((command) => promiseOf(command)?.start ?? ""));
    expect([...used].sort()).toEqual(Object.keys(PROMISES).sort());
  });

  test.each(others.map((block) => [`${block.page}:${block.line}`, block] as const))(
    "of %s do what the page says",
    async (_, block) => {
      const reader = await world.reader(block.page);
      for (const command of commandsOf(block)) {
        if (isCall(command) && !hasCurl) continue;
        const { code, out, err } = await outcomeOf(command, reader);
        const { code: expected = 0, says, file } = promiseOf(plainCommand(command))?.promised ?? {};
        expect({ command, code, err: code === expected ? "" : err }).toEqual({
          command,
          code: expected,
          err: "",
        });
        expect(out === "" ? err : out).toMatch(says ?? /(?!)/);
        if (file === undefined) continue;
        const [name, has] = file;
        expect(readFileSync(world.here(` ${name}`, reader).trim(), "utf8")).toMatch(has);
      }
    },
  );
});

/** Runs one command of a page. */
async function outcomeOf(command: string, reader: Reader): Promise<Outcome> {
  const line = world.here(command, reader);
  const args = toolArguments(line);
  if (args === null) return await inShell(line, reader.account.key);
  const outcome = await reader.tool(...args);
  const [, file] = / > (\S+)$/.exec(line) ?? [];
  if (file !== undefined) writeFileSync(file, outcome.out);
  return outcome;
}

function inShell(line: string, key: string): Promise<Outcome> {
  const script = `curl() { command curl -sS --fail-with-body "$@"; }\n${line}\n`;
  return world.run(["sh"], key, script);
}

describe.skipIf(!hasCurl)("the call", () => {
  const all = calls.flatMap((block) =>
    commandsOf(block).map(
      (command) => [`${block.page}:${block.line} ${command.slice(0, 90)}`, command] as const,
    ),
  );

  test("stands in many pages", () => expect(all.length).toBeGreaterThan(10));

  test.each(all)("%s is answered with a success", async (_, command) => {
    const reader = await world.reader("");
    const { code, out, err } = await inShell(world.here(command, reader), reader.account.key);
    expect({ code, err, ...(code !== 0 && { out }) }).toEqual({ code: 0, err: "" });
  });
});

describe("the program", () => {
  const programs = docBlocks().filter(
    ({ info, text }) => info === "js" && text.includes(ANY_SERVICE),
  );

  test("stands in pages", () => expect(programs.length).toBeGreaterThan(1));

  test.each(programs.map((block) => [block.page, block.text] as const))(
    "of %s runs and prints what the call cost",
    async (page, text) => {
      const reader = await world.reader(page);
      const program = world.here(text, reader);
      const { code, out, err } = await world.run([process.execPath, "run", "-"], "", program);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out.length).toBeGreaterThan(1);
    },
  );
});
