// Commands about the sums of the request log.

import { findAccount } from "../../accounts/administration.ts";
import { repairMargins } from "../../store/usage/margin-repair.ts";
import { repairUsage } from "../../store/usage/usage-repair.ts";
import type { Command } from "../command.ts";
import { idOf } from "../values.ts";

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

export const usageCommands: readonly Command[] = [repair];
