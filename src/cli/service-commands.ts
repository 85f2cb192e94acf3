import { SERVICE_NAMES } from "../core/services.ts";
import { isPauseTarget, Pauses } from "../store/pauses.ts";
import { type Command, UsageError } from "./command.ts";
import { nameAmong } from "./values.ts";

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
      const target = nameAmong(SERVICE_NAMES, word) ?? word.replace(/^model:/i, "model:");
      if (!isPauseTarget(target)) {
        throw new UsageError(`The target must be one of ${TARGETS}, but is '${word}'`);
      }
      return async ({ database, warn }) => {
        const log = { warn: (_: object, message: string) => warn(message) };
        const changed = await new Pauses({ database, log })[verb](target);
        const paused = verb === "pause";
        const before = changed ? "" : " already";
        return {
          json: { id: target, paused, changed },
          text: `${target} is${before} ${paused ? "paused" : "running"}.`,
        };
      };
    },
  };
}

export const serviceCommands: readonly Command[] = [
  pauseCommand("pause", "Pause a service or a model: every process refuses its calls with 503"),
  pauseCommand("resume", "Resume a paused service or model"),
];
