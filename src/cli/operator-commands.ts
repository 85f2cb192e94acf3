// The readings of the operators' console on the command line: accounts by any name that a customer
// gives, the trail of operators, and waiting or failed work.

import { counted } from "../core/text/counted.ts";
import { resendFromCli } from "../operator/queues.ts";
import { CONTENT_REFUSALS } from "../readings/content-refusals.ts";
import { DISPUTES } from "../readings/disputes.ts";
import { EVENTS } from "../readings/events.ts";
import { FOUND_ACCOUNTS } from "../readings/found-accounts.ts";
import { MAILS } from "../readings/mails.ts";
import { TRAIL } from "../readings/trail.ts";
import { EVENT_STATUSES, MAIL_STATUSES } from "../store/operators/operator-queues.ts";
import { identifiedAccount, safetyIdPart } from "./accounts/safety-id.ts";
import { type Answer, type Command, UsageError } from "./command.ts";
import { BEFORE, beforeOf, pagePrinter } from "./list-command.ts";
import type { Stores } from "./stores.ts";
import { wordOf } from "./values.ts";

const printAccounts = pagePrinter({
  list: FOUND_ACCOUNTS,
  name: "accounts",
  cells: (row) => [
    row.id,
    row.state,
    row.email ?? "",
    row.name ?? "",
    `paid $${row.paid_usd}`,
    `free $${row.free_usd}`,
    `owed $${row.owed_usd}`,
  ],
});

const printTrail = pagePrinter({
  list: TRAIL,
  name: "entries",
  cells: (entry) => [
    entry.at,
    entry.actor,
    entry.account ?? "",
    entry.about,
    entry.reason,
    `${entry.outcome}${entry.detail === null ? "" : `: ${entry.detail}`}`,
  ],
});

const printMails = pagePrinter({
  list: MAILS,
  name: "mails",
  cells: (mail) => [
    mail.id,
    mail.created_at,
    mail.kind,
    mail.recipient,
    mail.status,
    counted(mail.attempts, "attempt"),
    mail.last_error ?? "",
    mail.can_resend ? "can be sent again" : "",
  ],
});

const printEvents = pagePrinter({
  list: EVENTS,
  name: "events",
  cells: (event) => [
    event.received_at,
    event.provider,
    event.id,
    event.type,
    event.object_id,
    event.result ?? event.failure ?? event.status,
  ],
});

const printDisputes = pagePrinter({
  list: DISPUTES,
  name: "disputes",
  cells: (one) => [
    one.payment,
    one.account,
    one.provider,
    `$${one.amount_usd}`,
    one.dispute ?? "warning",
    one.concern ?? "",
  ],
});

const printRefusals = pagePrinter({
  list: CONTENT_REFUSALS,
  name: "accounts",
  cells: (row) => [
    row.account,
    row.account_name ?? "",
    row.state,
    `${row.refusals} refused`,
    row.providers ?? "",
    `last ${row.last_at}`,
  ],
});

const find: Command = {
  name: "account find",
  positionals: ["[TEXT]"],
  summary: "Find accounts by an id of theirs, a part of a name or an address, or a key's last four",
  options: {
    "safety-id": { value: "ID", help: "the account of an identifier that a provider names" },
    before: BEFORE,
  },
  prepare(input) {
    const question = { text: input.positionals[0] ?? null, before: beforeOf(input) };
    const safetyId = input.values.get("safety-id");
    if (safetyId === undefined) return ({ database }) => printAccounts(database, question);
    if (question.text !== null) throw new UsageError("--safety-id takes no further TEXT");
    const part = safetyIdPart(safetyId);
    return (stores) => printIdentified(stores, part);
  },
};

/** The account of an identifier, and the provider that got it. */
async function printIdentified(stores: Stores, part: string): Promise<Answer> {
  const { database, safetyIdSecrets } = stores;
  const found = await identifiedAccount(database, part, safetyIdSecrets);
  if (found === null) {
    const text =
      "No account has this identifier under SAFETY_ID_SECRET and KEY_PEPPER as set here.";
    return { json: { accounts: [], provider: null }, text, failed: true };
  }
  const { account, provider, isEarlier } = found;
  const { json, text } = await printAccounts(database, { text: account, before: null });
  const secret = isEarlier ? ", made with an earlier secret" : "";
  return {
    json: { ...json, provider, earlier_secret: isEarlier },
    text: `${text}\nThe identifier is that of this account at ${provider}${secret}.`,
  };
}

const trail: Command = {
  name: "operator trail",
  positionals: [],
  summary: "List what operators did in their console, newest first",
  options: { account: { value: "ID", help: "only what was done to this account" }, before: BEFORE },
  prepare(input) {
    const question = { account: input.values.get("account") ?? null, before: beforeOf(input) };
    return ({ administration }) => printTrail(administration.accounts, question);
  },
};

const mails: Command = {
  name: "outbox list",
  positionals: [],
  summary: "List the service's own mails: those that wait, were sent, or failed",
  options: {
    status: { value: MAIL_STATUSES.join("|"), help: "which ones (waiting)" },
    before: BEFORE,
  },
  prepare(input) {
    const status = wordOf(input, "status", { words: MAIL_STATUSES, fallback: "waiting" });
    const question = { status, before: beforeOf(input) };
    return ({ database }) => printMails(database, question);
  },
};

const resend: Command = {
  name: "outbox resend",
  positionals: ["MAIL"],
  summary: "Send a mail of the service again that failed; its content is kept for 7 days",
  options: {},
  prepare({ positionals, nowMs }) {
    const [id = ""] = positionals;
    return async ({ database }) => {
      await resendFromCli(database, id, new Date(nowMs));
      return { json: { mail: id, status: "waiting" }, text: `The mail ${id} is sent again.` };
    };
  },
};

const events: Command = {
  name: "event list",
  positionals: [],
  summary: "List the events of payment providers: those that were processed, or wait",
  options: {
    status: { value: EVENT_STATUSES.join("|"), help: "which ones (received)" },
    before: BEFORE,
  },
  prepare(input) {
    const status = wordOf(input, "status", { words: EVENT_STATUSES, fallback: "received" });
    const question = { status, before: beforeOf(input) };
    return ({ database }) => printEvents(database, question);
  },
};

const disputes: Command = {
  name: "dispute list",
  positionals: [],
  summary: "List payments whose dispute is open, or that their provider warns of",
  options: { all: { value: null, help: "decided ones too" }, before: BEFORE },
  prepare(input) {
    const state = input.values.has("all") ? ("all" as const) : ("open" as const);
    const question = { state, before: beforeOf(input) };
    return ({ database }) => printDisputes(database, question);
  },
};

const refusals: Command = {
  name: "refusal list",
  positionals: [],
  summary: "List accounts whose calls providers refused for their content in 30 days, most first",
  options: { before: BEFORE },
  prepare(input) {
    const question = { before: beforeOf(input) };
    return ({ database }) => printRefusals(database, question);
  },
};

export const operatorCommands: readonly Command[] = [
  find,
  trail,
  mails,
  resend,
  events,
  disputes,
  refusals,
];
