// Tests the rules of restarting dead processes, without processes and without waiting.

import { expect, test } from "bun:test";
import type { Child, Exit } from "../../../scripts/local/processes.mjs";
import { DEATHS_MAX, supervise } from "../../../scripts/local/supervisor.mjs";
import { eventLoopTurns, eventually } from "../../support/eventually.ts";

const KILLED: Exit = { code: null, signal: "SIGKILL" };

/** A process that dies when the test says so. */
function fakeChild(): Child & { die(): void } {
  const { promise, resolve } = Promise.withResolvers<Exit>();
  let exit: Exit | null = null;
  const end = async () => {
    exit ??= KILLED;
    resolve(exit);
  };
  return {
    name: "Redis",
    record: { pid: 1, born: "" },
    exited: promise,
    exit: () => exit,
    stop: end,
    kill9: end,
    die: () => void end(),
  };
}

function lab(options: { mayRestart?: boolean; failures?: number } = {}) {
  let nowMs = 0;
  let failures = options.failures ?? 0;
  const children = [fakeChild()];
  const lines: string[] = [];
  const pauses: number[] = [];
  const givenUp: string[] = [];
  const newest = () => children.at(-1) ?? fakeChild();
  const supervised = supervise({
    name: "Redis",
    child: newest(),
    start: async () => {
      failures -= 1;
      if (failures >= 0) throw new Error("the disk is full");
      children.push(fakeChild());
      return newest();
    },
    mayRestart: () => options.mayRestart ?? true,
    say: (line) => lines.push(line),
    giveUp: (_, why) => givenUp.push(why),
    now: () => nowMs,
    pause: async (ms) => void pauses.push(ms),
  });
  return {
    supervised,
    children,
    lines,
    pauses,
    givenUp,
    newest,
    pass: (ms: number) => {
      nowMs += ms;
    },
    async die() {
      const before = children.length;
      newest().die();
      await eventually("it is started again or given up", () => {
        return children.length > before || givenUp.length > 0;
      });
      await supervised.running();
    },
  };
}

test("a process that dies is restarted, after a pause that doubles, with a message", async () => {
  const { die, pauses, lines } = lab();
  for (let death = 1; death < DEATHS_MAX; death += 1) await die();
  expect(pauses).toEqual([250, 500, 1_000, 2_000]);
  expect(lines.slice(0, 2)).toEqual([
    "Redis ended by SIGKILL; starting it again in 0.25 s (1 of 5).",
    "Redis runs again.",
  ]);
});

test("the fifth death within a minute is given up", async () => {
  const { die, givenUp, children } = lab();
  for (let death = 1; death <= DEATHS_MAX; death += 1) await die();
  expect(givenUp).toEqual(["Redis ended by SIGKILL, the 5th time within a minute: giving up."]);
  expect(children).toHaveLength(DEATHS_MAX);
});

test("deaths that are further apart never add up", async () => {
  const { die, pass, pauses, givenUp } = lab();
  for (let death = 1; death <= 20; death += 1) {
    await die();
    pass(60_001);
  }
  expect(givenUp).toEqual([]);
  expect(new Set(pauses)).toEqual(new Set([250]));
});

test("a start that fails counts as a death, and its reason is reported", async () => {
  const { die, givenUp, lines } = lab({ failures: 100 });
  await die();
  expect(lines[1]).toStartWith("Redis could not be started (the disk is full); starting it again");
  expect(givenUp).toHaveLength(1);
});

test("before everything ran, the first death ends the start", async () => {
  const { die, givenUp, pauses } = lab({ mayRestart: false });
  await die();
  expect(givenUp).toEqual(["Redis ended by SIGKILL."]);
  expect(pauses).toEqual([]);
});

test("a stopped process is not restarted", async () => {
  const { supervised, children, givenUp, lines } = lab();
  await supervised.stop();
  await eventLoopTurns(10);
  expect({ children: children.length, givenUp, lines }).toEqual({
    children: 1,
    givenUp: [],
    lines: [],
  });
});
