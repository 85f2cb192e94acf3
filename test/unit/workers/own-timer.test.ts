import { expect, test } from "bun:test";
import { runOnTimer } from "../../../workers/own-timer.ts";
import { silent } from "../../support/fakes/silent-log.ts";

/** A clock whose timers the test ends. */
function manualTimers() {
  const due: (() => void)[] = [];
  const after = (_: number, run: () => void) => {
    due.push(run);
    return () => {
      due.splice(due.indexOf(run), 1);
    };
  };
  return { after, due };
}

test("two runs of a job never overlap, and a failed run is followed by the next", async () => {
  const { after, due } = manualTimers();
  const errors: object[] = [];
  const log = { ...silent, error: (fields: object) => errors.push(fields) };
  const runs: PromiseWithResolvers<void>[] = [];
  const run = () => {
    const next = Promise.withResolvers<void>();
    runs.push(next);
    return next.promise;
  };
  const timer = runOnTimer("flush", { everyMs: 500, run }, { log, after });
  expect([runs.length, due.length]).toEqual([1, 0]);
  const away = new Error("Postgres is away");
  runs[0]?.reject(away);
  while (due.length === 0) await Promise.resolve();
  expect(errors).toEqual([{ job: "flush", err: away }]);
  due.shift()?.();
  expect([runs.length, due.length]).toEqual([2, 0]);
  const stopped = timer.stop();
  runs[1]?.resolve();
  await stopped;
  expect([runs.length, due.length]).toEqual([2, 0]);
});
