// Commands about the webhooks of customers (docs/webhooks.md).

import { setReceiverState } from "../../accounts/webhooks.ts";
import { listReceiverStates } from "../../store/webhooks/receiver-list.ts";
import type { Command, Input } from "../command.ts";
import { noted } from "../noted.ts";
import { table, utc } from "../print.ts";
import { idOf } from "../values.ts";

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

export const webhookCommands: readonly Command[] = [list, disable, enable];

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
