import { SERVICE_NAMES } from "../core/services.ts";
import { isPauseTarget, Pauses } from "../store/pauses.ts";
import { type Command, UsageError } from "./command.ts";
import { nameAmong } from "./values.ts";

const TARGETS = `${SERVICE_NAMES.join("|")}|model:ID`;

function switchCommand(verb: "pause" | "resume", summary: string): Command {
  return {
    name: `service ${verb}`,
    words: [TARGETS],
    summary,
    options: {},
    plan({ words }) {
      const word = words[0] ?? "";
      // The id of a model is no name of ours: its letters are kept as they are.
      const target = nameAmong(SERVICE_NAMES, word) ?? word.replace(/^model:/i, "model:");
      if (!isPauseTarget(target)) throw new UsageError(`'${word}' is none of ${TARGETS}`);
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
  switchCommand("pause", "Refuse calls of a service or a model with 503, on every process"),
  switchCommand("resume", "Let them pass again"),
];
