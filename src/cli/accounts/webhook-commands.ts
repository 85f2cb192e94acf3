// Commands about the webhooks of customers (docs/webhooks.md).

import {
  receiverAccount,
  replayFailed,
  replayOne,
  setReceiverState,
} from "../../accounts/webhooks.ts";
import { DELIVERIES } from "../../console/webhook-lists.ts";
import { counted } from "../../core/text/counted.ts";
import { REPLAYS_MAX, WEBHOOK_KEEP_MS } from "../../core/webhooks/webhook-rules.ts";
import { numberFrom } from "../../readings/list-reading.ts";
import { DELIVERY_STATUSES } from "../../store/tables/webhook-schema.ts";
import { listReceiverStates } from "../../store/webhooks/receiver-list.ts";
import { type Command, type Input, UsageError } from "../command.ts";
import { BEFORE, beforeOf, pagePrinter } from "../list-command.ts";
import { noted } from "../noted.ts";
import { table, utc } from "../print.ts";
import { accountSource } from "../reading-commands.ts";
import { idOf, timeOf, wordOf } from "../values.ts";

const list: Command = {
  name: "webhook list",
  positionals: [],
  summary: "List the webhooks of all accounts, with what waits and what failed in 24 hours",
  options: {},
  prepare:
    () =>
    async ({ database }) => {
      const webhooks = await listReceiverStates(database, null);
      const rows = webhooks.map((one) => [
        one.id,
        one.account,
        new URL(one.url).host,
        one.disabled ??
          (one.failingSince === null ? "enabled" : `failing ${utc(one.failingSince)}`),
        String(one.waiting),
        String(one.failed),
      ]);
      const head = ["webhook", "account", "host", "state", "waiting", "failed"];
      return {
        json: { webhooks },
        text: webhooks.length === 0 ? "There are no webhooks." : table([head, ...rows]),
      };
    },
};

const disable: Command = {
  name: "webhook disable",
  positionals: ["ID"],
  summary: "Send nothing more to a webhook; its account cannot enable it",
  options: {},
  prepare: (input) => change(input, "operator"),
};

const enable: Command = {
  name: "webhook enable",
  positionals: ["ID"],
  summary: "Enable a webhook that was disabled, by whomever",
  options: {},
  prepare: (input) => change(input, null),
};

const printDeliveries = pagePrinter({
  list: DELIVERIES,
  name: "deliveries",
  none: "Nothing was sent to this webhook.",
  cells: (one) => [
    `${one.number}`,
    one.created_at,
    one.type,
    one.event,
    one.status,
    one.http_status === null ? "-" : `${one.http_status}`,
    counted(one.attempts, "attempt"),
    one.next_attempt_at === null ? "" : `again ${one.next_attempt_at}`,
    one.error ?? "",
  ],
});

const deliveries: Command = {
  name: "webhook deliveries",
  positionals: ["ID"],
  summary: "List what was sent to a webhook, newest first, with the state and what it answered",
  options: {
    status: { value: DELIVERY_STATUSES.join("|"), help: "only those in this state" },
    before: BEFORE,
  },
  prepare(input) {
    const webhook = idOf(input, "receiver");
    const words = [...DELIVERY_STATUSES, "any"] as const;
    const status = wordOf(input, "status", { words, fallback: "any" });
    const question = {
      webhook,
      status: status === "any" ? null : status,
      before: beforeOf(input),
    };
    return async (stores) => {
      const { id } = await receiverAccount(stores, webhook);
      return await printDeliveries(await accountSource(stores, id), question);
    };
  },
};

const replay: Command = {
  name: "webhook replay",
  positionals: ["ID"],
  summary: "Send again what a webhook did not take, or one delivery, whatever became of it",
  options: {
    since: { value: "ISO-TIME", help: "only events since then (all that are kept, 30 days)" },
    delivery: { value: "NUMBER", help: "this delivery, as 'webhook deliveries' numbers it" },
  },
  prepare(input) {
    const webhook = idOf(input, "receiver");
    const delivery = deliveryIn(input);
    const since = timeOf(input, "since");
    if (delivery !== null && since !== null) {
      throw new UsageError("--since and --delivery exclude each other");
    }
    return async ({ administration }) => {
      const account = await receiverAccount({ administration }, webhook);
      if (delivery !== null) {
        const also = noted(administration, "webhook_replayed", "one event");
        const of = { delivery, receiver: webhook };
        await replayOne({ administration }, { account, also }, of);
        return { json: { webhook, replayed: 1 }, text: `Delivery ${delivery} is sent again.` };
      }
      const also = noted(administration, "webhook_replayed", "failed events");
      const from = since ?? new Date(administration.now() - WEBHOOK_KEEP_MS);
      const target = { account, id: webhook, also };
      const replayed = await replayFailed({ administration }, target, from);
      return { json: { webhook, replayed }, text: replayedWords(replayed) };
    };
  },
};

export const webhookCommands: readonly Command[] = [list, deliveries, replay, disable, enable];

function deliveryIn({ values }: Input): number | null {
  const text = values.get("delivery");
  if (text === undefined) return null;
  const number = numberFrom(text);
  if (number !== null) return number;
  throw new UsageError("--delivery must be the number of a delivery");
}

function replayedWords(replayed: number): string {
  if (replayed === 0) {
    return "Nothing is sent again: no event failed, or the webhook is disabled.";
  }
  const words = replayed === 1 ? "1 event is" : `${replayed} events are`;
  const more = replayed < REPLAYS_MAX ? "" : " Send again once they have ended: there may be more.";
  return `${words} sent again.${more}`;
}

function change(input: Input, disabled: "operator" | null): ReturnType<Command["prepare"]> {
  const id = idOf(input, "receiver");
  const word = disabled === null ? "enabled" : "disabled";
  return async ({ administration }) => {
    const also = noted(administration, `webhook_${word}`, "a webhook");
    await setReceiverState({ administration }, { id, disabled, also });
    return {
      json: { webhook: id, enabled: disabled === null },
      text: `The webhook ${id} is ${word}.`,
    };
  };
}
