// Shows the state of the installation, and pauses or resumes a service or a model.

import { SERVICE_NAMES } from "../core/access/services.ts";
import { FORM_FIELDS } from "../core/text/form-fields.ts";
import { invalid } from "../http/body/checks.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { shortText } from "../http/schema.ts";
import { Health, healthReply, Pauses, pausesReply } from "../readings/health.ts";
import { isPauseTarget } from "../store/operators/pauses.ts";
import { actOutside } from "./act.ts";
import { operatorAct } from "./act-endpoint.ts";
import { type Context, OPERATOR_PATH } from "./deps.ts";

const TARGET_CHARACTERS_MAX = "model:".length + FORM_FIELDS.model.charactersMax;

const health = operatorEndpoint({
  id: "getHealthOfAll",
  method: "GET",
  path: `${OPERATOR_PATH}/health`,
  summary: "Show how servers, processes, journal, mails, events and disputes do",
  ...replyWith(Health, { summary: "All is well" }),
  run: ({ deps }: Context) => healthReply(deps),
});

const pauses = operatorEndpoint({
  id: "listPauses",
  method: "GET",
  path: `${OPERATOR_PATH}/pauses`,
  summary: "Show which services and models are paused",
  ...replyWith(Pauses, { summary: "Search is paused" }),
  run: ({ deps }: Context) => pausesReply(deps.switches),
});

const pause = switchEndpoint("pause", "Pause a service or a model: its calls are refused with 503");
const resume = switchEndpoint("resume", "Resume a service or a model");

function switchEndpoint(verb: "pause" | "resume", summary: string) {
  const isPause = verb === "pause";
  return operatorAct({
    id: isPause ? "pauseTarget" : "resumeTarget",
    name: `pauses/${verb}`,
    summary,
    fields: {
      target: shortText(TARGET_CHARACTERS_MAX, {
        description: "A service, or `model:` with the id of a model",
      }),
    },
    example: { target: "search" },
    exampleSummary: "Search",
    async run(context, input) {
      const { target } = input;
      if (!isPauseTarget(target)) {
        throw invalid("target", `must be one of ${SERVICE_NAMES.join(", ")}, or model:ID`);
      }
      const about = `${target} ${isPause ? "paused" : "resumed"}`;
      const deed = { ask: input, action: verb, subject: target, about };
      return await actOutside(context, deed, async () => {
        const changed = await context.deps.switches[verb](target);
        return changed ? null : `It was ${isPause ? "paused" : "running"} already`;
      });
    },
  });
}

export const RUNNING_ENDPOINTS = [health, pauses, pause, resume] as const;
