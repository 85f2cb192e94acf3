// What the operators' console reads, on the command line: accounts by whatever a customer names,
// the trail of the operators, and what waits or failed.

import { AdministrationError, ApiError } from "../core/errors.ts";
import { foundAccounts } from "../operator/accounts.ts";
import { disputesReply } from "../operator/money.ts";
import { eventsReply, mailsReply, resendFromCli } from "../operator/queues.ts";
import { trailReply } from "../operator/trail.ts";
import { EVENT_STATUSES, MAIL_STATUSES } from "../store/operators/operator-queues.ts";
import type { Answer, Command, Input } from "./command.ts";
import { table } from "./print.ts";
import type { Stores } from "./stores.ts";
import { oneOf } from "./values.ts";

const BEFORE = { value: "PLACE", help: "the next page, as the page before names it" } as const;

interface Page {
  readonly next: string | null;
}

/** A command that prints a page of what `read` answers. */
function pageOf<Reply extends Page>(
  read: (stores: Stores) => Promise<Reply>,
  rowsOf: (reply: Reply) => string[][],
): (stores: Stores) => Promise<Answer> {
  return async (stores) => {
    try {
      const reply = await read(stores);
      const rows = rowsOf(reply);
      const more = reply.next === null ? "" : `\nMore: --before ${reply.next}`;
      const text = rows.length === 0 ? "There is nothing." : `${table(rows)}${more}`;
      return { json: reply as unknown as Answer["json"], text };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new AdministrationError("wrong_state", error.message);
    }
  };
}

function beforeOf({ values }: Input): string | null {
  return values.get("before") ?? null;
}

const find: Command = {
  name: "account find",
  positionals: ["[TEXT]"],
  summary: "Find accounts by an id of theirs, a part of a name or an address, or a key's last four",
  options: { before: BEFORE },
  prepare(input) {
    const question = { text: input.positionals[0] ?? null, before: beforeOf(input) };
    return pageOf(
      ({ database }) => foundAccounts(database, question),
      ({ accounts }) =>
        accounts.map((row) => [
          row.id,
          row.state,
          row.email ?? "",
          row.name ?? "",
          `paid $${row.paid_usd}`,
          `free $${row.free_usd}`,
          `owed $${row.owed_usd}`,
        ]),
    );
  },
};

const trail: Command = {
  name: "operator trail",
  positionals: [],
  summary: "List what operators did in their console, newest first",
  options: { account: { value: "ID", help: "only what was done to this account" }, before: BEFORE },
  prepare(input) {
    const question = { account: input.values.get("account") ?? null, before: beforeOf(input) };
    return pageOf(
      ({ administration }) => trailReply(administration.accounts, question),
      ({ entries }) =>
        entries.map((entry) => [
          entry.at,
          entry.actor,
          entry.account ?? "",
          entry.about,
          entry.reason,
          `${entry.outcome}${entry.detail === null ? "" : `: ${entry.detail}`}`,
        ]),
    );
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
    const status = oneOf(input, "status", MAIL_STATUSES, "waiting");
    return pageOf(
      ({ database }) => mailsReply(database, { status, before: beforeOf(input) }),
      (reply) =>
        reply.mails.map((mail) => [
          mail.id,
          mail.created_at,
          mail.kind,
          mail.recipient,
          mail.status,
          `${mail.attempts} attempts`,
          mail.last_error ?? "",
          mail.can_resend ? "can be sent again" : "",
        ]),
    );
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
    const status = oneOf(input, "status", EVENT_STATUSES, "received");
    return pageOf(
      ({ database }) => eventsReply(database, { status, before: beforeOf(input) }),
      (reply) =>
        reply.events.map((event) => [
          event.received_at,
          event.provider,
          event.id,
          event.type,
          event.object_id,
          event.result ?? event.failure ?? event.status,
        ]),
    );
  },
};

const disputes: Command = {
  name: "dispute list",
  positionals: [],
  summary: "List payments whose dispute is open, or that their provider warns of",
  options: { all: { value: null, help: "decided ones too" }, before: BEFORE },
  prepare(input) {
    const state = input.values.has("all") ? ("all" as const) : ("open" as const);
    return pageOf(
      ({ database }) => disputesReply(database, { state, before: beforeOf(input) }),
      (reply) =>
        reply.disputes.map((one) => [
          one.payment,
          one.account,
          one.provider,
          `$${one.amount_usd}`,
          one.dispute ?? "warning",
          one.concern ?? "",
        ]),
    );
  },
};

export const operatorCommands: readonly Command[] = [find, trail, mails, resend, events, disputes];
