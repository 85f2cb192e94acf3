// Counts what calls send to Redis, and which commands its scripts run there, with and without parts
// of a customer's control. Two microseconds are less than a measurement shows; keys, arguments and
// commands are the same in every run (D-853).

import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { SCRIPT_LIBRARY } from "../../../actors/scripts/script-library.ts";
import { findAccount } from "../../../src/accounts/administration.ts";
import { changeEndUserBudget } from "../../../src/accounts/end-users.ts";
import { noted } from "../../../src/cli/noted.ts";
import { usd } from "../../../src/core/money/money.ts";
import { DOORS } from "../../support/api/doors.ts";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";
import { atEnd, shared } from "../../support/shared.ts";
import type { AccountTerms, TestAccount } from "../../support/stores/accounts.ts";

const product = await shared(startProduct({ apis: 1, workers: 0 }));
const redis = new Redis(product.redis.url);
const monitor = await redis.monitor();
atEnd(() => {
  monitor.disconnect();
  redis.disconnect();
});

interface Run {
  /** The name of the function in the library of scripts. */
  readonly script: string;
  readonly keys: number;
  readonly args: number;
  /** The commands that the script runs, each with the number of its arguments. */
  readonly commands: string[];
}

const runs: Run[] = [];
/** Other commands of the process: their words, joined. */
const others: string[] = [];

monitor.on("monitor", (_time: string, words: readonly string[], source: string) => {
  const [command = "", ...parts] = words;
  if (source === "lua") runs.at(-1)?.commands.push(`${command} ${parts.length}`);
  else if (command.toLowerCase() === "fcall") {
    const [script = "", keys = ""] = parts;
    const args = parts.length - 2 - Number(keys);
    runs.push({ script, keys: Number(keys), args, commands: [] });
  } else others.push(words.join(" "));
});

/** Scripts that a process runs at its own times, for all of its calls. */
const OWN = ["lease", "renew", "forget_ended"].map((name) => SCRIPT_LIBRARY.functionOf(name));

interface Part {
  readonly terms?: AccountTerms;
  readonly headers?: (call: number) => Readonly<Record<string, string>>;
  readonly prepare?: (account: TestAccount) => Promise<unknown>;
  readonly stream?: boolean;
}

const WARM_CALLS = 2;
const SETTLE = SCRIPT_LIBRARY.functionOf("settle");

/** The scripts of one call; calls before it have loaded what its account needs. */
async function scriptsOf({ terms, headers, prepare, stream = false }: Part): Promise<Run[]> {
  const account = await product.account({ paid: "20", contract: "enterprise", ...terms });
  await prepare?.(account);
  const { path, body } = DOORS.chat;
  for (let call = 0; call <= WARM_CALLS; call += 1) {
    [runs.length, others.length] = [0, 0];
    const response = await fetch(product.api(0).url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${account.key}`, ...headers?.(call) },
      body: JSON.stringify(body({ model: "ok", prompt: "Hello", maxTokens: 50, stream })),
    });
    await response.text();
    expect(response.status).toBe(200);
    await eventually("it is settled", () => runs.some(({ script }) => script === SETTLE));
    // The monitor shows commands in order, so that it has shown all once it shows this one.
    const end = `call ${call} of ${account.id}`;
    await redis.echo(end);
    await eventually("all is shown", () => others.includes(`echo ${end}`));
  }
  expect(others.filter((one) => one.includes(account.id))).toHaveLength(1);
  return runs.filter(({ script }) => !OWN.includes(script));
}

const run = (script: string, keys: number, commands: readonly string[]): Run => ({
  script: SCRIPT_LIBRARY.functionOf(script),
  keys,
  args: 3,
  commands: [...commands],
});

/** The least that a charged call needs, and what it sent before there was any control. */
const LEAST = [
  run("admit", 7, ["MGET 3", "TIME 0", "HSETNX 3", "MSET 4"]),
  run("settle", 5, ["HGET 2", "MGET 3", "XADD 4", "HSET 3", "MSET 4"]),
];

test.each([false, true])("a call without control sends the least (stream: %p)", async (stream) => {
  expect(await scriptsOf({ stream })).toEqual(LEAST);
});

/** What a call sends beyond the least: keys, arguments and commands of both scripts. */
function beyond(counted: readonly Run[]): readonly [keys: number, args: number, commands: number] {
  const sum = (of: readonly Run[], count: (one: Run) => number) =>
    of.reduce((all, one) => all + count(one), 0);
  const more = (count: (one: Run) => number) => sum(counted, count) - sum(LEAST, count);
  return [more(({ keys }) => keys), more(({ args }) => args), more((one) => one.commands.length)];
}

const ALL_SPANS = { "5h": "5", day: "5", week: "5", total: "5" } as const;

const PARTS: readonly (Part & { readonly name: string; readonly adds: readonly number[] })[] = [
  {
    name: "a cap on the call",
    headers: () => ({ "x-svc-max-cost-usd": "1.00" }),
    adds: [0, 0, 0],
  },
  {
    name: "one budget of the account",
    terms: { budgets: { day: "5" } },
    adds: [2, 1, 4],
  },
  {
    name: "budgets of all four spans",
    terms: { budgets: ALL_SPANS },
    adds: [2, 1, 4],
  },
  {
    name: "a budget of the end user",
    headers: () => ({ "x-svc-end-user": "customer-4711" }),
    prepare: budgetEndUsers,
    adds: [2, 1, 4],
  },
  {
    name: "a run",
    headers: () => ({ "x-svc-run": "counted; max-usd=5" }),
    adds: [2, 1, 4],
  },
  {
    name: "an idempotency key",
    headers: (call) => ({ "idempotency-key": `counted-${call}` }),
    adds: [4, 5, 6],
  },
];

/** Gives every end user of the account a budget. */
async function budgetEndUsers({ id }: TestAccount): Promise<void> {
  const { administration } = product.operator;
  await changeEndUserBudget(administration, await findAccount(administration, id), {
    endUser: null,
    key: null,
    span: "day",
    amount: usd("5"),
    note: (about) => noted(administration, "budget_changed", about),
  });
}

test.each(PARTS)("$name adds what docs/performance.md says", async ({ adds, ...part }) => {
  expect(beyond(await scriptsOf(part))).toEqual(adds as [number, number, number]);
});
