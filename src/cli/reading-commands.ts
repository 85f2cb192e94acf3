// Prints the readings of the console's pages: overview, usage, request log, receipts and ledger.
// With --json a command prints the console's reply.

import { findAccount } from "../accounts/administration.ts";
import { dollarText } from "../core/money/money.ts";
import { CALL_STATUSES, USAGE_GROUPS, USAGE_STEPS } from "../core/usage-query.ts";
import { ACTIVITY } from "../readings/activity.ts";
import { LEDGER } from "../readings/ledger.ts";
import { type OverviewReply, overviewReply } from "../readings/overview.ts";
import type { AccountSource } from "../readings/reading.ts";
import { type ReceiptReply, receiptReply } from "../readings/receipt.ts";
import { REQUESTS, type RequestsReply } from "../readings/requests.ts";
import { csvOf, usageReply } from "../readings/usage.ts";
import { type Answer, type Command, type Input, UsageError } from "./command.ts";
import { BEFORE, beforeOf, pagePrinter, readAsConsole } from "./list-command.ts";
import { indented, labelled, table, utc } from "./print.ts";
import type { Stores } from "./stores.ts";
import { idOf, timeOf, wordOf } from "./values.ts";

const FILTERS = {
  service: { value: "NAME", help: "only this service" },
  model: { value: "NAME", help: "only this model or action of maps; none for calls without one" },
  key: { value: "KEY", help: "only this key" },
  tag: { value: "a,b|none", help: "only keys that have these tags; none for those without one" },
  status: { value: CALL_STATUSES.join("|"), help: "only calls that ended like this" },
} as const;

const STATUSES = [...CALL_STATUSES, "any"] as const;

type Read<T> = (source: AccountSource, stores: Stores) => Promise<T>;

/** The account that a command names, with the stores to read it from. */
export async function accountSource(stores: Stores, id: string): Promise<AccountSource> {
  const { administration, database, actors } = stores;
  const journal = { redis: actors.deps.redis, database, now: administration.now };
  return { reading: { database, journal }, account: await findAccount(administration, id) };
}

/** A command that reads one account. A wrong value is refused as the console refuses it. */
function reader<T extends object>(input: Input, read: Read<T>, textOf: (reply: T) => string) {
  const id = idOf(input, "account");
  return async (stores: Stores): Promise<Answer> => {
    const source = await accountSource(stores, id);
    const reply = await readAsConsole(read(source, stores));
    return { json: reply as Answer["json"], text: textOf(reply) };
  };
}

function filtersOf(input: Input) {
  const status = wordOf(input, "status", { words: STATUSES, fallback: "any" });
  return {
    service: input.values.get("service") ?? null,
    model: input.values.get("model") ?? null,
    key: input.values.get("key") ?? null,
    tag: input.values.get("tag") ?? null,
    status: status === "any" ? null : status,
  };
}

const usage: Command = {
  name: "usage show",
  positionals: ["ID"],
  summary: "Sum what an account used, by step of time and by group, as CSV or as JSON",
  options: {
    from: { value: "ISO-TIME", help: "the start, a multiple of 15 minutes", required: true },
    to: { value: "ISO-TIME", help: "the end, which is not included", required: true },
    step: { value: USAGE_STEPS.join("|"), help: "the length of a step (1d)" },
    group: { value: USAGE_GROUPS.join("|"), help: "what to sum by (service)" },
    zone: { value: "ZONE", help: "where days begin, such as Europe/Berlin (UTC)" },
    ...FILTERS,
  },
  prepare(input) {
    const [from, to] = [timeOf(input, "from"), timeOf(input, "to")];
    if (from === null || to === null) throw new UsageError("--from and --to are needed");
    const question = {
      from: from.toISOString(),
      to: to.toISOString(),
      step: wordOf(input, "step", { words: USAGE_STEPS, fallback: "1d" }),
      group: wordOf(input, "group", { words: USAGE_GROUPS, fallback: "service" }),
      zone: input.values.get("zone") ?? "UTC",
      ...filtersOf(input),
    };
    return reader(
      input,
      (source) => usageReply(source, question),
      (reply) => csvOf(reply).trimEnd().replaceAll("\r\n", "\n"),
    );
  },
};

const printRequests = pagePrinter({
  list: REQUESTS,
  name: "requests",
  none: "No requests.",
  cells: (row) => [
    row.at,
    row.id,
    row.model ?? row.endpoint,
    row.key.name,
    namedBy(row),
    `${row.status}`,
    row.code ?? "",
    `${row.latency_ms} ms`,
    `$${row.cost_usd}`,
  ],
  foot: ({ as_of }) => `\nAs of ${as_of.at}, ${as_of.behind_seconds} s behind.`,
});

/** The run and the end user that a call named. */
function namedBy({ run, end_user: endUser }: RequestsReply["requests"][number]): string {
  const names = [run === null ? "" : `run ${run}`, endUser === null ? "" : `end user ${endUser}`];
  return names.filter((name) => name !== "").join(", ");
}

const requests: Command = {
  name: "request list",
  positionals: ["ID"],
  summary: "List an account's request log, newest first",
  options: {
    from: { value: "ISO-TIME", help: "the oldest" },
    to: { value: "ISO-TIME", help: "the newest, which is not included" },
    ...FILTERS,
    code: { value: "CODE", help: "only this error code" },
    run: { value: "RUN", help: "only this run" },
    "end-user": { value: "HASH", help: "only this end user, as 'end-user show' names it" },
    "min-cost": { value: "USD", help: "only calls that cost at least this" },
    before: BEFORE,
    limit: { value: "COUNT", help: "how many, at most 200 (50)" },
  },
  prepare(input) {
    const limit = input.values.get("limit") ?? "50";
    if (!/^([1-9]|[1-9]\d|1\d\d|200)$/.test(limit)) {
      throw new UsageError("--limit must be from 1 to 200");
    }
    const question = {
      from: timeOf(input, "from")?.toISOString() ?? null,
      to: timeOf(input, "to")?.toISOString() ?? null,
      ...filtersOf(input),
      code: input.values.get("code") ?? null,
      run: input.values.get("run") ?? null,
      end_user: input.values.get("end-user") ?? null,
      min_cost_usd: input.values.get("min-cost") ?? null,
      before: beforeOf(input),
      limit,
    };
    const id = idOf(input, "account");
    return async (stores) => await printRequests(await accountSource(stores, id), question);
  },
};

const receipt: Command = {
  name: "request show",
  positionals: ["ID", "REQUEST"],
  summary: "Show one request of an account: what was held and charged, or why it was refused",
  options: {},
  prepare(input) {
    const request = idOf(input, "request", 1);
    const read: Read<ReceiptReply> = (source) => receiptReply(source, request, null);
    return reader(input, read, (reply) => {
      const { request: row, refusal } = reply;
      const usdOf = (text: string | null) => (text === null ? "-" : dollarText(text));
      return labelled([
        ["request", row.id],
        ["at", row.at],
        ["endpoint", row.endpoint],
        ["model", row.model ?? "-"],
        ...(row.asked_model === null ? [] : [["asked for as", row.asked_model] as const]),
        ["key", row.key.name],
        ...(row.run === null ? [] : [["run", runText(row)] as const]),
        ...(row.end_user === null ? [] : [["end user", row.end_user] as const]),
        ["status", `${row.status} ${row.code ?? ""}`.trimEnd()],
        ["held", usdOf(reply.held_usd)],
        ["charged", usdOf(reply.charged_usd)],
        ["returned", usdOf(reply.returned_usd)],
        ["of free credit", usdOf(reply.free_usd)],
        ["balance after", usdOf(reply.balance_after_usd)],
        ...(reply.stopped_by === null ? [] : [["ended by", reply.stopped_by] as const]),
        ["price version", reply.price_version ?? "-"],
        ["tokens", `${row.prompt_tokens} in, ${row.completion_tokens} out`],
        ["took", `${row.latency_ms} ms`],
        ...(refusal === null ? [] : [["why", refusal.explanation] as const]),
      ]);
    });
  },
};

function runText({ run, step }: ReceiptReply["request"]): string {
  return step === null ? `${run}` : `${run}, step ${step}`;
}

const printLedger = pagePrinter({
  list: LEDGER,
  name: "entries",
  none: "No entries.",
  cells: (entry) => [
    `${entry.seq}`,
    entry.at,
    entry.kind,
    dollarText(entry.amount_usd),
    `paid $${entry.paid_after_usd}`,
    `free $${entry.free_after_usd}`,
    entry.request_id ?? entry.payment_id ?? entry.reason ?? "",
  ],
});

const ledger: Command = {
  name: "account ledger",
  positionals: ["ID"],
  summary: "List the ledger of an account, newest first",
  options: {
    "without-calls": { value: null, help: "leave out what calls were charged" },
    before: { value: "NUMBER", help: "the next page, as the page before names it" },
  },
  prepare(input) {
    const kind = input.values.has("without-calls") ? ("operations" as const) : ("all" as const);
    const before = beforeOf(input);
    const id = idOf(input, "account");
    return async (stores) => await printLedger(await accountSource(stores, id), { kind, before });
  },
};

const printActivity = pagePrinter({
  list: ACTIVITY,
  name: "entries",
  none: "",
  cells: (line) => [
    utc(new Date(line.at)),
    line.actor,
    line.action,
    line.about,
    line.country ?? "",
  ],
});

const activity: Command = {
  name: "account activity",
  positionals: ["ID"],
  summary: "List who did what in an account, newest first",
  options: { before: { value: "N", help: "the page after the one that ended with this" } },
  prepare(input) {
    const before = beforeOf(input);
    const id = idOf(input, "account");
    return async (stores) => await printActivity(await accountSource(stores, id), { before });
  },
};

const overview: Command = {
  name: "account overview",
  positionals: ["ID"],
  summary: "Show what an account can spend now, what it spends, and its latest errors",
  options: {},
  prepare(input) {
    const read: Read<OverviewReply> = ({ reading, account }, stores) =>
      overviewReply({ ...stores, wallets: stores.actors, reading }, account);
    return reader(input, read, (reply) => {
      const { balance, month, burn, today, tier, last_errors: errors } = reply;
      const lasts = burn.lasts_days === null ? "" : `, lasts about ${burn.lasts_days} days`;
      const cap = month.cap_usd === null ? "no cap" : `$${month.cap_usd}`;
      const lines = errors.map((one) => [one.at, one.request_id, `${one.status}`, one.code]);
      const head = labelled([
        ["account", `${reply.account.id} ${reply.account.state}`],
        ["spendable", `$${balance.spendable_usd} (${balance.spendable_limit})`],
        ["paid", dollarText(balance.paid_usd)],
        ["free", dollarText(balance.free_usd)],
        ["held", dollarText(balance.held_usd)],
        ["owed", dollarText(balance.owed_usd)],
        ["month", `${month.month}: $${month.spent_usd} of ${cap}`],
        ["a day", `$${burn.usd_per_day} over ${burn.days} days${lasts}`],
        ["today", `${today.calls} calls, ${today.errors} errors, $${today.cost_usd}`],
        [tier.kind, tier.name],
      ]);
      return lines.length === 0 ? head : `${head}\n\nlatest errors\n${indented(table(lines))}`;
    });
  },
};

export const readingCommands: readonly Command[] = [
  usage,
  requests,
  receipt,
  ledger,
  activity,
  overview,
];
