// Commands about models.

import { modelsReply } from "../readings/models.ts";
import { Configurations } from "../store/operators/configurations.ts";
import { Pauses } from "../store/operators/pauses.ts";
import { platformFetch } from "../upstream/open-fetch.ts";
import type { Command } from "./command.ts";
import { table } from "./print.ts";
import { openCatalogue, serverSettings } from "./server-settings.ts";

export const modelCommands: readonly Command[] = [
  {
    name: "model list",
    positionals: [],
    summary: "List the models of the configuration, their prices, and which are paused",
    options: {},
    prepare() {
      return async ({ database, environment, warn }) => {
        const applied = new Configurations(database);
        using source = await openCatalogue(serverSettings({ environment }), {
          applied,
          probe: platformFetch,
          warn,
        });
        const log = { warn: (_: object, message: string) => warn(message) };
        const pauses = new Pauses({ database, log });
        await pauses.reload();
        const { models } = modelsReply({ catalogue: () => source.current(), pauses });
        const rows = models.map(({ id, context_tokens, prices: [first], ...model }) => [
          id,
          `${context_tokens} tokens`,
          `$${first?.input_usd_per_m} in, $${first?.output_usd_per_m} out, for a million tokens`,
          model.free_credit_eligible ? "free credit" : "",
          model.is_paused ? "paused" : "",
        ]);
        return { json: { models }, text: table(rows) };
      };
    },
  },
];
