import { SERVICE_NAMES } from "../core/access/services.ts";
import { Configurations } from "../store/operators/configurations.ts";
import { isPauseTarget, Pauses } from "../store/operators/pauses.ts";
import { platformFetch } from "../upstream/open-fetch.ts";
import { type Command, UsageError } from "./command.ts";
import { openCatalogue, serverSettings } from "./server-settings.ts";
import type { Stores } from "./stores.ts";
import { nameAmong } from "./values.ts";

const MODEL = "model:";
const TARGETS = `${SERVICE_NAMES.join("|")}|model:ID`;

function pauseCommand(verb: "pause" | "resume", summary: string): Command {
  return {
    name: `service ${verb}`,
    positionals: [TARGETS],
    summary,
    options: {},
    prepare({ positionals }) {
      const word = positionals[0] ?? "";
      // Names of services ignore case, but ids of models do not.
      const target = nameAmong(SERVICE_NAMES, word) ?? word.replace(/^model:/i, MODEL);
      if (!isPauseTarget(target)) {
        throw new UsageError(`The target must be one of ${TARGETS}, but is '${word}'`);
      }
      return async (stores) => {
        const { database, warn } = stores;
        const log = { warn: (_: object, message: string) => warn(message) };
        const changed = await new Pauses({ database, log })[verb](target);
        const paused = verb === "pause";
        if (paused && (await isUnknownModel(target, stores))) {
          warn(`No model is called ${target.slice(MODEL.length)} now: is that its whole name?`);
        }
        const before = changed ? "" : " already";
        return {
          json: { id: target, paused, changed },
          text: `${target} is${before} ${paused ? "paused" : "running"}.`,
        };
      };
    },
  };
}

/**
 * A model that is not offered now can be paused, since it may come back; a misspelt one must be
 * refused.
 */
async function isUnknownModel(target: string, stores: Stores): Promise<boolean> {
  if (!target.startsWith(MODEL)) return false;
  try {
    const applied = new Configurations(stores.database);
    const parts = { applied, probe: platformFetch, warn: () => {} };
    using source = await openCatalogue(serverSettings(stores), parts);
    return !source.current().models.has(target.slice(MODEL.length));
  } catch {
    // Only the servers' settings could tell, and a pause needs none of them.
    return false;
  }
}

export const serviceCommands: readonly Command[] = [
  pauseCommand("pause", "Pause a service or a model: every process refuses its calls with 503"),
  pauseCommand("resume", "Resume a paused service or model"),
];
