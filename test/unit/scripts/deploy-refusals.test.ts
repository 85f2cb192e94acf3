// Tests that `npm run deploy:check` shows the words of a refusal as they were written, also of a
// command that goes on in spite of it.

import { expect, test } from "bun:test";
import { refusalIn } from "../../../scripts/deploy/compose-refusals.ts";

const NO_SYSTEMD = 'time="2026-11-29T06:30:52Z" level=error msg="unable to get systemd"';

test("a refusal is the words of the engine, without the lines around them", () => {
  const stderr = "podman run --name one\nError: runc: error setting rlimit type 7\n";
  expect(refusalIn({ exitCode: 126, stdout: "exit code: 126\n", stderr })).toBe(
    "Error: runc: error setting rlimit type 7",
  );
});

test("a part that the engine leaves out and logs is refused, whatever its exit code", () => {
  const said = { exitCode: 0, stdout: "1eeec8d5f78d\n", stderr: `${NO_SYSTEMD}\n${NO_SYSTEMD}\n` };
  expect(refusalIn(said)).toBe(NO_SYSTEMD);
});

test("a failure without a known form is shown by its last line, or by its exit code", () => {
  expect(
    refusalIn({ exitCode: 2, stdout: "", stderr: "usage: podman-compose\nno such file\n" }),
  ).toBe("no such file");
  expect(refusalIn({ exitCode: 2, stdout: "", stderr: "" })).toBe(
    "it ended with 2, without a word",
  );
});

test("a command that does all that it was asked to is no refusal", () => {
  expect(refusalIn({ exitCode: 0, stdout: "redis\n", stderr: "" })).toBeNull();
});
