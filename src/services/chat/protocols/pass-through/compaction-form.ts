// Compactions of OpenAI's Responses, passed through.

import type { Json } from "../../../../core/text/json.ts";
import { tierOf } from "../../request-tier.ts";
import type { LastOfResponses } from "../../usage/openai-responses.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { PassThroughForm } from "./pass-through-form.ts";
import { responsesForm } from "./responses-form.ts";

export const compactionForm: PassThroughForm<LastOfResponses> = {
  ...responsesForm,
  form: "compaction",
  url: ({ baseUrl }) => `${baseUrl}/responses/compact`,
  body: compactionBody,
  // The output of a compaction is sealed, as thoughts are.
  whole(reply) {
    const read = responsesForm.whole(reply);
    return read === null ? null : { ...read, hasThought: true };
  },
};

/** The endpoint that shortens knows neither an output limit nor identifiers of people. */
function compactionBody({ request, model, identifiers }: UpstreamCall): Json {
  const key = identifiers?.prompt_cache_key;
  const tier = tierOf(request);
  return {
    ...request.own?.body,
    ...(key !== undefined && { prompt_cache_key: key }),
    model,
    service_tier: tier === "standard" ? "default" : tier,
  };
}
