// Commands about the sums of the request log.

import { findAccount } from "../../accounts/administration.ts";
import { counted } from "../../core/text/counted.ts";
import { focusPages } from "../../readings/focus/focus.ts";
import { Configurations } from "../../store/operators/configurations.ts";
import { repairMargins } from "../../store/usage/margin-repair.ts";
import { repairUsage } from "../../store/usage/usage-repair.ts";
import { platformFetch } from "../../upstream/open-fetch.ts";
import type { Command } from "../command.ts";
import { accountSource } from "../reading-commands.ts";
import { openCatalogue, serverSettings } from "../server-settings.ts";
import { OUT, outFileOf, writeCsv } from "../sink.ts";
import { begunMonthOf, idOf } from "../values.ts";
import { tryFlush } from "./log-commands.ts";

const repair: Command = {
  name: "usage repair",
  positionals: ["[ID]"],
  summary: "Compute the usage of all accounts, or of one, again where it differs from the ledger",
  options: {},
  prepare(input) {
    const id = input.positionals.length === 0 ? null : idOf(input, "account");
    return async ({ administration, database }) => {
      if (id !== null) await findAccount(administration, id);
      const repaired = await repairUsage(database, id);
      const margins = id === null ? await repairMargins(database) : 0;
      const text =
        repaired + margins === 0
          ? "The usage agrees with ledger and request log."
          : `Computed again: usage of ${repaired} account(s), margin of ${margins} bucket(s).`;
      return { json: { repaired, margins }, text };
    };
  },
};

const focus: Command = {
  name: "usage focus",
  positionals: ["ID"],
  summary: "Write a month of an account in the form of FOCUS 1.3, for FinOps tools",
  options: {
    month: { value: "MONTH", help: "the UTC month, such as 2026-11", required: true },
    out: OUT,
  },
  prepare(input) {
    const id = idOf(input, "account");
    const month = begunMonthOf(input, "month");
    const file = outFileOf(input);
    return async (stores) => {
      const { database, environment, warn } = stores;
      const source = await accountSource(stores, id);
      using configuration = await openCatalogue(serverSettings({ environment }), {
        applied: new Configurations(database),
        probe: platformFetch,
        warn,
      });
      await tryFlush(stores);
      const catalogue = () => configuration.current();
      const provider = catalogue().brand.name;
      const question = { month, catalogue, provider, nowMs: input.nowMs };
      const rows = await writeCsv(file, focusPages(source, question));
      const text = file === null ? null : `Wrote ${counted(rows, "row")} to ${file}.`;
      return { json: { id, month, rows, file }, text };
    };
  },
};

export const usageCommands: readonly Command[] = [repair, focus];
