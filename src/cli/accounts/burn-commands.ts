// Commands about burn-rate rules (docs/burn-rates.md).

import { findAccount, findOwnKey } from "../../accounts/administration.ts";
import { addOwnBurnRule, removeOwnBurnRule, resumeKey } from "../../accounts/burn-rates.ts";
import { BURN_ALARMS, type BurnSource, burnRulesReply } from "../../console/burn-lists.ts";
import {
  BURN_ACTIONS,
  BURN_BOUNDS,
  type BurnProblem,
  type BurnTerms,
  burnProblem,
  burnWords,
} from "../../core/access/burn-rules.ts";
import { numberFrom } from "../../readings/list-reading.ts";
import { type Command, type Input, UsageError } from "../command.ts";
import { BEFORE, beforeOf, pagePrinter } from "../list-command.ts";
import { noted } from "../noted.ts";
import { table } from "../print.ts";
import type { Stores } from "../stores.ts";
import { idOf, positiveAmountOf, wordOf } from "../values.ts";

const list: Command = {
  name: "burn-rule list",
  positionals: ["ID"],
  summary: "List an account's burn-rate rules",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return async ({ administration }) => {
      const account = await findAccount(administration, id);
      const reply = await burnRulesReply(administration, account);
      const rows = reply.rules.map((rule) => [
        String(rule.number),
        rule.key ?? "each key",
        `$${rule.above_usd}`,
        rule.times_usual === null ? "-" : `${rule.times_usual} times`,
        rule.action,
        rule.requests_per_minute === null ? "-" : `${rule.requests_per_minute}/min`,
        rule.minutes === null ? "-" : `${rule.minutes} min`,
      ]);
      const head = ["rule", "key", "above", "usual", "action", "requests", "ends"];
      const text = rows.length === 0 ? "No burn-rate rules." : table([head, ...rows]);
      return { json: { ...reply }, text };
    };
  },
};

const add: Command = {
  name: "burn-rule add",
  positionals: ["ID"],
  summary: "Add a burn-rate rule: what happens to a key that spends much within five minutes",
  options: {
    key: { value: "KEY-ID", help: "only this key; without it each key of the account" },
    above: { value: "N", help: "USD within five minutes", required: true },
    times: { value: "N", help: "also so many times the usual spending of the key" },
    action: { value: BURN_ACTIONS.join("|"), help: "what happens to the key", required: true },
    requests: { value: "N", help: "for slow: the requests left to the key in 60 seconds" },
    minutes: { value: "N", help: "for slow and pause: after how long that ends by itself" },
  },
  prepare(input) {
    const id = idOf(input, "account");
    const terms = termsIn(input);
    const keyId = input.values.get("key") ?? null;
    return async ({ administration }) => {
      const account = await findAccount(administration, id);
      const key = keyId === null ? null : await findOwnKey(administration, account, keyId);
      const about = `${key === null ? "each key" : key.name}: ${burnWords(terms)}`;
      const also = noted(administration, "burn_rule_added", about);
      const rule = { ...terms, key: key?.id ?? null, also };
      const number = await addOwnBurnRule(administration, account, rule);
      return { json: { account: id, rule: number }, text: `Rule ${number}: ${about}.` };
    };
  },
};

function termsIn(input: Input): BurnTerms {
  const terms = {
    amount: positiveAmountOf(input, "above"),
    times: countIn(input, "times", BURN_BOUNDS.times),
    action: wordOf(input, "action", { words: BURN_ACTIONS, fallback: "alert" }),
    requestsPerMinute: countIn(input, "requests", BURN_BOUNDS.requestsPerMinute),
    minutes: countIn(input, "minutes", BURN_BOUNDS.minutes),
  };
  const problem = burnProblem(terms);
  if (problem === null) return terms;
  throw new UsageError(`--${OPTIONS[problem.field]} ${problem.must}`);
}

const OPTIONS = {
  above_usd: "above",
  requests_per_minute: "requests",
  minutes: "minutes",
} as const satisfies Record<BurnProblem["field"], string>;

interface Bounds {
  readonly min: number;
  readonly max: number;
}

function countIn({ values }: Input, option: string, { min, max }: Bounds): number | null {
  const text = values.get(option);
  if (text == null) return null;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= min && count <= max) return count;
  throw new UsageError(`--${option} must be a whole number from ${min} to ${max}`);
}

const remove: Command = {
  name: "burn-rule remove",
  positionals: ["ID", "RULE"],
  summary: "Remove a burn-rate rule; what it did to a key lasts until its end",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    const word = input.positionals[1] ?? "";
    const number = numberFrom(word);
    if (number === null) throw new UsageError(`'${word}' is not a rule's number`);
    return async ({ administration }) => {
      const account = await findAccount(administration, id);
      const also = noted(administration, "burn_rule_removed", `rule ${number}`);
      await removeOwnBurnRule(administration, account, { number, also });
      return { json: { account: id, rule: number }, text: `Rule ${number} is removed.` };
    };
  },
};

const printAlarms = pagePrinter({
  list: BURN_ALARMS,
  name: "alarms",
  none: "No alarms.",
  cells: (alarm) => [
    alarm.at,
    alarm.key.name,
    `$${alarm.spent_usd} of $${alarm.threshold_usd}`,
    alarm.action,
    alarm.ended_at ?? (alarm.ends_at === null ? "-" : `until ${alarm.ends_at}`),
  ],
});

const alarms: Command = {
  name: "burn-rule alarms",
  positionals: ["ID"],
  summary: "List the keys that burn-rate rules found to spend fast, newest first",
  options: { before: BEFORE },
  prepare(input) {
    const before = beforeOf(input);
    const id = idOf(input, "account");
    return async (stores) => await printAlarms(await sourceOf(stores, id), { before });
  },
};

async function sourceOf({ administration, database }: Stores, id: string): Promise<BurnSource> {
  return { database, account: await findAccount(administration, id) };
}

const resume: Command = {
  name: "key resume",
  positionals: ["ID", "KEY-ID"],
  summary: "End what burn-rate rules have done to a key, before its time",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    const keyId = idOf(input, "key", 1);
    return async ({ administration }) => {
      const account = await findAccount(administration, id);
      const key = await findOwnKey(administration, account, keyId);
      const also = noted(administration, "key_resumed", key.name);
      const { applied } = await resumeKey(administration, account, { key: keyId, also });
      return { json: { key: keyId, applied }, text: `The key ${key.name} takes calls again.` };
    };
  },
};

export const burnCommands: readonly Command[] = [list, add, remove, alarms, resume];
