// Commands about models.

import { modelsReply } from "../console/models.ts";
import { CatalogueSource } from "../settings/catalogue-source.ts";
import { loadServerConfig } from "../settings/config.ts";
import { Pauses } from "../store/pauses.ts";
import type { Command } from "./command.ts";
import { table } from "./print.ts";

/** Its value is not used: the command serves no metrics. */
const METRICS_PORT = 0;

export const modelCommands: readonly Command[] = [
  {
    name: "model list",
    positionals: [],
    summary: "List the models of the configuration, their prices, and which are paused",
    options: {},
    prepare() {
      return async ({ database, warn }) => {
        const log = {
          info: () => {},
          warn: (_: object, message: string) => warn(message),
          error: (_: object, message: string) => warn(message),
        };
        const { catalogueFile, environment: env, port: ownPort } = loadServerConfig(METRICS_PORT);
        using source = await CatalogueSource.open({
          ...catalogueFile,
          ...{ env, log, probe: fetch, ownPort },
        });
        const pauses = new Pauses({ database, log });
        await pauses.reload();
        const { models } = modelsReply({ catalogue: () => source.current(), pauses });
        const rows = models.map(({ id, context_tokens, bands: [band], ...model }) => [
          ...[id, `${context_tokens} tokens`],
          `$${band?.input_usd_per_m} in, $${band?.output_usd_per_m} out, for a million tokens`,
          ...[model.free_credit_eligible ? "free credit" : "", model.is_paused ? "paused" : ""],
        ]);
        return { json: { models }, text: table(rows) };
      };
    },
  },
];
