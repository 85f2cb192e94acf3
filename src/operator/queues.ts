// Defines the endpoints that try failed or waiting work again.

import { streamEntry } from "../../actors/journal.ts";
import { AdministrationError } from "../core/errors.ts";
import { sampleOf } from "../core/records.ts";
import { optional, shortText, text } from "../http/schema.ts";
import { ServiceMail } from "../readings/mails.ts";
import { OPERATOR, recordActivity } from "../store/accounts/activity.ts";
import { Ledger } from "../store/ledger/ledger.ts";
import { RejectedEntries } from "../store/ledger/rejected-entries.ts";
import { type RetryResult, retryRejections } from "../store/ledger/rejection-retry.ts";
import {
  type EndedMail,
  findMail,
  hastenMails,
  replayEvent,
  resendMail,
} from "../store/operators/operator-queues.ts";
import type { Database } from "../store/servers/database.ts";
import type { Transaction } from "../store/servers/transaction.ts";
import { actOnce, actOutside } from "./act.ts";
import { operatorAct } from "./act-endpoint.ts";
import type { Context } from "./deps.ts";

const ID_CHARACTERS_MAX = 255;

const retry = operatorAct({
  id: "retryRejected",
  name: "rejected/retry",
  summary: "Write the rejected entries again that fit the ledger by now",
  fields: {},
  exampleSummary: "All",
  run(context, input) {
    const about = "rejected journal entries written again";
    const deed = { ask: input, action: "retry_rejected", about };
    return actOutside(context, deed, async () => {
      const results = await retryAll(context.deps.reading.database);
      const written = results.filter(({ reason }) => reason === null).length;
      return `${written} of ${results.length} were written`;
    });
  },
});

/** Writes rejected entries again, as `farebox journal rejected --retry` does. */
export async function retryAll(database: Database): Promise<RetryResult[]> {
  return await retryRejections({
    database,
    ledger: new Ledger(database),
    rejected: new RejectedEntries(database),
    parse: streamEntry,
  });
}

const hasten = operatorAct({
  id: "hastenMail",
  name: "mails/retry",
  summary: "Try to send a waiting mail now, or all of them",
  fields: {
    mail: optional(text({ description: "The id of a mail; all that wait if missing" })),
  },
  exampleSummary: "All",
  run(context, input) {
    const mail = input.mail ?? null;
    const about = mail === null ? "all waiting mails tried now" : `mail ${mail} tried now`;
    const deed = { ask: input, action: "retry_mail", subject: mail, about };
    return actOutside(context, deed, async () => {
      const due = await hastenMails(context.deps.reading.database, mail);
      if (due > 0 || mail === null) return `${due} are due now`;
      throw new AdministrationError("not_found", `There is no waiting mail ${mail}`);
    });
  },
});

const resend = operatorAct({
  id: "resendMail",
  name: "mails/resend",
  summary: "Send a mail again that failed",
  description:
    "It is the same mail, with the same Message-ID, tried for another 24 hours. Mails that bring " +
    "a code or a link are not sent again: both have ended, and people ask for new ones.",
  fields: { mail: text({ description: "The id of a mail that failed" }) },
  example: { mail: sampleOf(ServiceMail).id },
  exampleSummary: "One mail",
  async run(context, input) {
    const { database } = context.deps.reading;
    const { mail: id } = input;
    const mail = await mailOf(database, id);
    const about = `mail ${id} (${mail.kind.replaceAll("_", " ")}) sent again`;
    const deed = { ask: input, action: "resend_mail", account: mail.account, subject: id, about };
    return await actOnce(context, deed, (also) => sendAgain(database, id, also));
  },
});

async function mailOf(database: Database, id: string): Promise<EndedMail> {
  const mail = await findMail(database, id);
  if (mail !== null) return mail;
  throw new AdministrationError("not_found", `There is no mail ${id}`);
}

/** Sends a failed mail of the service again. `also` runs in the transaction. */
async function sendAgain(
  database: Database,
  id: string,
  also: (tx: Transaction) => Promise<void>,
): Promise<{ readonly applied: true }> {
  if (await resendMail(database, id, also)) return { applied: true };
  throw new AdministrationError(
    "wrong_state",
    `The mail ${id} cannot be sent again: it did not fail, or its content is deleted`,
  );
}

/** Sends a failed mail again for `farebox`, with a line in the account's activity. */
export async function resendFromCli(database: Database, id: string, now: Date): Promise<void> {
  const { account, kind } = await mailOf(database, id);
  const about = `mail ${id} (${kind})`;
  const line = { actor: OPERATOR, action: "operator_resend_mail", about, at: now };
  await sendAgain(database, id, async (tx) => {
    if (account !== null) await recordActivity(tx, account, line);
  });
}

const replay = operatorAct({
  id: "replayEvent",
  name: "events/replay",
  summary: "Process an event again: the object that it names is read anew within seconds",
  fields: { provider: shortText(ID_CHARACTERS_MAX), event: shortText(ID_CHARACTERS_MAX) },
  example: { provider: "stripe", event: "evt_1" },
  exampleSummary: "One event",
  run(context, input) {
    const { provider, event: id } = input;
    const about = `event ${id} of ${provider} processed again`;
    const deed = { ask: input, action: "replay_event", subject: id, about };
    return actOutside(context, deed, async () => {
      requireProvider(context, provider);
      if (await replayEvent(context.deps.reading.database, { provider, id })) return null;
      throw new AdministrationError("not_found", `There is no event ${id} of ${provider}`);
    });
  },
});

/** No worker reads the objects of another provider's events, so a retry would only wait. */
function requireProvider({ deps: { cashier } }: Context, provider: string): void {
  if (cashier?.provider.name === provider) return;
  throw new AdministrationError(
    "wrong_state",
    `Events of ${provider} cannot be processed: it is not the payment provider that is configured`,
  );
}

export const QUEUE_ENDPOINTS = [retry, hasten, resend, replay] as const;
