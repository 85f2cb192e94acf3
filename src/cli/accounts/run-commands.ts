// Commands about runs: the budgets that callers name in their requests (docs/runs.md).

import { findAccount } from "../../accounts/administration.ts";
import { changeOwnRun, type RunDeps } from "../../accounts/runs.ts";
import { RUNS, type RunReply, type RunSource, runReply } from "../../console/run-lists.ts";
import { RUN_SECONDS } from "../../core/access/runs.ts";
import { dollars, dollarText } from "../../core/money/money.ts";
import { readRunSums, type SummedRun } from "../../store/usage/run-sums.ts";
import { type Answer, type Command, type Input, UsageError } from "../command.ts";
import { BEFORE, beforeOf, pagePrinter, readAsConsole } from "../list-command.ts";
import { noted } from "../noted.ts";
import { indented, labelled, table } from "../print.ts";
import type { Stores } from "../stores.ts";
import { amountOf, idOf } from "../values.ts";

const printRuns = pagePrinter({
  list: RUNS,
  name: "runs",
  none: "No runs.",
  cells: (run) => [
    run.id,
    run.state,
    `$${run.spent_usd} of $${run.max_usd}`,
    `left $${run.left_usd}`,
    `ends ${run.ends_at}`,
    run.key.name,
  ],
});

const list: Command = {
  name: "run list",
  positionals: ["ID"],
  summary: "List an account's runs, newest first",
  options: { before: BEFORE },
  prepare(input) {
    const before = beforeOf(input);
    const id = idOf(input, "account");
    return async (stores) => await printRuns(await sourceOf(stores, id), { before });
  },
};

const show: Command = {
  name: "run show",
  positionals: ["ID", "RUN"],
  summary: "Show a run of an account, and what its calls cost by service, model and step",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    const run = runOf(input);
    return async (stores) => await answerOf(await sourceOf(stores, id), run);
  },
};

const change: Command = {
  name: "run change",
  positionals: ["ID", "RUN"],
  summary: "Pause or resume a run, or give it another amount or more time",
  options: {
    pause: { value: null, help: "it refuses calls until it is resumed" },
    resume: { value: null, help: "it takes calls again" },
    usd: { value: "N", help: "what its calls may cost together, in USD" },
    ttl: { value: "SECONDS", help: "how long it goes on from now" },
  },
  prepare(input) {
    const id = idOf(input, "account");
    const run = runOf(input);
    const { words, ...wanted } = changeIn(input);
    return async (stores) => {
      const source = await sourceOf(stores, id);
      const also = noted(stores.administration, "run_changed", `run ${run}: ${words}`);
      await changeOwnRun(source.runs, source.account, { run, change: wanted, also });
      return await answerOf(source, run);
    };
  },
};

export const runCommands: readonly Command[] = [list, show, change];

function runOf({ positionals }: Input): string {
  return positionals[1] ?? "";
}

function changeIn(input: Input) {
  const { values } = input;
  if (values.has("pause") && values.has("resume")) {
    throw new UsageError("--pause and --resume exclude each other");
  }
  const isPaused = values.has("pause") ? true : values.has("resume") ? false : undefined;
  const amount = values.has("usd") ? amountOf(input, "usd") : undefined;
  const seconds = secondsIn(values.get("ttl"));
  const words = [
    ...(isPaused === undefined ? [] : [isPaused ? "paused" : "resumed"]),
    ...(amount === undefined ? [] : [dollars(amount)]),
    ...(seconds === undefined ? [] : [`${seconds} s from now`]),
  ].join(", ");
  if (words === "") throw new UsageError("--pause, --resume, --usd or --ttl is needed");
  return { isPaused, amount, seconds, words };
}

function secondsIn(text: string | null | undefined): number | undefined {
  if (text == null) return undefined;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds >= RUN_SECONDS.min && seconds <= RUN_SECONDS.max) return seconds;
  throw new UsageError(`--ttl must be a number from ${RUN_SECONDS.min} to ${RUN_SECONDS.max}`);
}

async function sourceOf({ administration, database, actors }: Stores, id: string) {
  const { onDelayed } = administration;
  const sums = { of: (run: SummedRun) => readRunSums(database, run) };
  const runs: RunDeps = { database, actors, sums, onDelayed };
  return { runs, account: await findAccount(administration, id) } satisfies RunSource;
}

async function answerOf(source: RunSource, run: string): Promise<Answer> {
  const reply = await readAsConsole(runReply(source, run));
  return { json: reply as unknown as Answer["json"], text: runText(reply) };
}

function runText(run: RunReply): string {
  const head = labelled([
    ["run", run.id],
    ["state", run.state],
    ["budget", `$${run.max_usd}`],
    ["spent", `$${run.spent_usd}`],
    ["held", `$${run.held_usd}`],
    ["left", dollarText(run.left_usd)],
    ["began", `${run.created_at} by ${run.key.name}`],
    ["ends", run.ends_at],
  ]);
  const sums = (name: string, cells: readonly (readonly string[])[]) =>
    cells.length === 0 ? "" : `\n\n${name}\n${indented(table(cells))}`;
  const numbers = (one: { calls: number; refused: number; cost_usd: string }) => [
    `${one.calls} calls`,
    `${one.refused} refused`,
    `$${one.cost_usd}`,
  ];
  const models = run.models.map((one) => [one.service, one.model ?? "-", ...numbers(one)]);
  const steps = run.steps.map((one) => [one.step, ...numbers(one)]);
  return `${head}${sums("by model", models)}${sums("by step", steps)}`;
}
