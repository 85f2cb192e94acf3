// POST /v1/moderations in OpenAI's form. A moderation is free, and needs a configured provider that
// offers moderations (D-690).

import type { CallTerms } from "../../../../../actors/account.ts";
import { takeHold } from "../../../../calls/admission.ts";
import { NO_COST, outcomeOf } from "../../../../calls/call.ts";
import { firstAnswer } from "../../../../calls/first-answer.ts";
import { giveBack, release } from "../../../../calls/settling.ts";
import { VECTORS } from "../../../../core/access/limits.ts";
import { ApiError, OK } from "../../../../core/errors.ts";
import { isObject, type Json } from "../../../../core/text/json.ts";
import type { Answer } from "../../../../http/answer.ts";
import { isAbsent } from "../../../../http/body/checks.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { endpoint } from "../../../../http/endpoint.ts";
import { PlainCost } from "../../../../http/reply-schema.ts";
import {
  anyObject,
  type Checked,
  named,
  optional,
  type Static,
  Type,
  text,
} from "../../../../http/schema.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { withinKey } from "../../allowed-models.ts";
import { type ChatCatalogue, type ModelEntry, servedUse } from "../../models/catalogue.ts";
import { noteModel } from "../../models/noted-model.ts";
import type { OtherCall } from "../../protocols/provider.ts";
import type { ChatContext } from "../completions/answer-chat.ts";
import { isPaused, modelFor } from "../completions/chat-request.ts";
import { moderationsExamples } from "./moderations-examples.ts";

const INPUT_RULE = "must be a text, or an array of texts, or of texts and images";
const nonEmpty = text({ minLength: 1, must: "must not be an empty text" });
const address = text({
  pattern: "^(?:https://|data:image/)",
  must: "must be an address that begins with https://, or an image as a data URL",
});

export const ModerationsBody = named("ModerationsRequest", {
  model: optional(
    text({
      description:
        "An id of `GET /v1/models` whose `svc.serves` is `moderation`; by default the first one",
    }),
  ),
  input: Type.Union(
    [
      nonEmpty,
      Type.Array(
        Type.Union([
          nonEmpty,
          Type.Object({ type: Type.Literal("text"), text: nonEmpty }),
          Type.Object({
            type: Type.Literal("image_url"),
            image_url: Type.Object({ url: address }),
          }),
        ]),
        { minItems: 1, maxItems: VECTORS.itemsMax, must: INPUT_RULE },
      ),
    ],
    { must: INPUT_RULE },
  ),
});
type ModerationsFields = Checked<typeof ModerationsBody>;

const Result = Type.Object({
  flagged: Type.Boolean({ description: "Whether any category applies" }),
  categories: anyObject({ description: "Whether each category applies" }),
  category_scores: anyObject({ description: "How sure the model is, from 0 to 1" }),
  category_applied_input_types: Type.Optional(
    anyObject({ description: "The kinds of input that each category was found in" }),
  ),
});
type ModerationResult = Static<typeof Result>;

export const Moderations = named("Moderations", {
  id: text({ description: "The request id" }),
  model: text({ description: "The model that answered" }),
  results: Type.Array(Result, { description: "One of each text, or one of texts and images" }),
  svc: PlainCost,
});

export interface ModerationCall {
  /** Several if the caller names none; the first one is asked. */
  readonly models: readonly [ModelEntry, ...ModelEntry[]];
  readonly asked: OtherCall<readonly ModerationResult[]>;
  readonly chosenFor?: CallTerms["chosenFor"];
}

/** The call of a body. Throws `not_found` where no provider has moderations. */
export function prepareModeration(context: ChatContext, { model: id, input }: ModerationsFields) {
  const { pauses } = context.deps;
  const catalogue = context.deps.catalogue();
  const offered = moderatorsOf(catalogue);
  const [first] = offered;
  if (first === undefined) throw new ApiError("not_found", NOT_CONFIGURED);
  const asked = { use: "moderation", body: { input }, read: resultsIn } as const;
  const running = offered.filter((one) => !isPaused(pauses, one.id));
  const named = isAbsent(id) ? (running[0] ?? first).id : id;
  const model = modelFor("moderation", named, { catalogue, pauses });
  noteModel(context, catalogue, named);
  const others = isAbsent(id) ? running.filter((one) => one !== model) : [];
  return { models: [model, ...others], asked } as const;
}

const NOT_CONFIGURED =
  "No provider here has moderations. GET /v1/models lists the models that there are, with what " +
  "each serves. The documentation is at /docs";

function moderatorsOf({ models }: ChatCatalogue): readonly ModelEntry[] {
  return [...models.values()].filter((model) => servedUse(model) === "moderation");
}

/** The results of a reply, of which only the known members are handed on. */
function resultsIn({ results }: Json): readonly ModerationResult[] {
  if (!Array.isArray(results) || results.length === 0) throw unreadable();
  return results.map((one: unknown) => {
    const { categories, category_scores, category_applied_input_types: kinds } = asObject(one);
    const applied = asObject(categories);
    return {
      // Some servers of this form leave `flagged` out.
      flagged: asObject(one).flagged === true || Object.values(applied).includes(true),
      categories: applied,
      category_scores: asObject(category_scores),
      ...(isObject(kinds) && { category_applied_input_types: kinds }),
    };
  });
}

function asObject(value: unknown): Json {
  if (!isObject(value)) throw unreadable();
  return value;
}

function unreadable(): RouteFailure {
  return new RouteFailure("The server sent no results of a moderation");
}

/** Runs a call, which counts as one request and costs nothing, however it ends. */
export async function runModeration(
  context: ChatContext,
  moderation: ModerationCall,
): Promise<Json> {
  if (moderation.models.length === 1) return await moderate(context, moderation);
  const { deps, call } = context;
  const run = (chosen: ModerationCall) => moderate(context, chosen);
  return await withinKey(deps.calls, call, { chat: moderation, run });
}

async function moderate(
  context: ChatContext,
  { models: [model], asked, chosenFor }: ModerationCall,
): Promise<Json> {
  const { deps, call } = context;
  context.model = model.id;
  const free = { ...NO_COST, isBrief: false, chosenFor };
  const terms = { scope: "models", service: "models", model: model.id, ...free } as const;
  const hold = await takeHold(deps.calls, call, terms);
  try {
    const { signal } = call;
    const options = { account: call.identity.accountId, signal };
    const ask = (one: ModelEntry) => deps.calls.chat.serve(one, asked, options);
    const { reply, lane } = await firstAnswer(deps.calls, call, {
      models: [model],
      tried: [],
      signal,
      ask,
    });
    const outcome = outcomeOf(deps.calls, call, { status: OK, errorCode: null });
    await release(deps.calls, hold, { ...outcome, lane });
    const svc = { request_id: call.requestId, cost_usd: 0 };
    return { id: call.requestId, model: model.id, results: reply, svc };
  } catch (error) {
    return await giveBack(deps.calls, call, { hold, failure: error });
  }
}

/** The answer to the caller. */
export function answerModeration(_: ChatContext, __: ModerationCall, reply: Json): Answer {
  return { json: JSON.stringify(reply) };
}

export const MODERATIONS_DESCRIPTION = `Compatible with OpenAI's moderations, for models whose
\`svc.serves\` in the list of models is \`moderation\`. Costs nothing, and counts as one request.
Where the operator has no such model, the answer is 404.`;

/** Moderations in the Gateway. */
export const moderations = endpoint({
  id: "createModeration",
  surface: "gateway",
  method: "POST",
  path: "/v1/moderations",
  service: "chat",
  access: "scope",
  isBilled: false,
  summary: "Look for harmful content",
  description: MODERATIONS_DESCRIPTION,
  body: jsonBody(ModerationsBody, { bytesMax: VECTORS.bodyBytesMax }),
  reply: Moderations,
  errors: ["not_found", "model_not_found", "model_unavailable", "upstream_unreachable"],
  examples: moderationsExamples(),
  mistakenFor: ["/moderations", "/v1/moderation"],
  prepare: (fields, context: ChatContext) => prepareModeration(context, fields),
  run: runModeration,
  answer: answerModeration,
});
