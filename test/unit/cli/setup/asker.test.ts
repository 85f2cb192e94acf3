// Tests the questions on a terminal: a hidden answer is not shown at a later question.

import { expect, test } from "bun:test";
import { PassThrough } from "node:stream";
import { TerminalAsker } from "../../../../src/cli/setup/asker.ts";
import { eventually } from "../../../support/eventually.ts";

const SECRET = "sk-hidden-0123456789";

test("the arrow up does not bring a hidden answer back", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = "";
  output.on("data", (bytes: Buffer) => {
    shown += bytes.toString();
  });
  using asker = new TerminalAsker({ input, output });
  const check = (text: string) => text;
  const hidden = asker.ask({ id: "key", text: "Key", current: null, isSecret: true, check });
  input.write(`${SECRET}\r`);
  expect(await hidden).toBe(SECRET);
  const open = asker.ask({ id: "name", text: "Name", current: "Kettle", check });
  input.write("\u001b[A");
  input.write("\r");
  expect(await open).toBe("Kettle");
  await eventually("the question is shown", () => shown.includes("Name [Kettle]"));
  expect(shown).not.toContain(SECRET);
});
