// Fits a request to a server of OpenAI's form with known habits.

import { TIER_FIELD, tierOf } from "../../request-tier.ts";
import { REASONING_FIELD } from "../chat-extras.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { ChatMessage } from "../provider.ts";
import { ESSENTIAL_PARAMETERS, unsupported } from "../unsupported.ts";

const NAME_FIELD = "messages[].name";

/**
 * The call as its server takes it. Throws an UnableFailure if the server refuses a parameter that
 * the reply depends on.
 */
export function fitted(call: UpstreamCall): UpstreamCall {
  const { request, provider } = call;
  const { quirks = null } = provider;
  if (quirks === null) return call;
  const refused = new Set(quirks.refuses);
  const tier = tierOf(request);
  if (tier !== "standard" && !quirks.tiers.includes(tier)) refused.add(TIER_FIELD);
  const parameters: Record<string, unknown> = { ...quirks.sets };
  const ignored = [...(call.ignored ?? [])];
  for (const [name, value] of Object.entries(request.parameters)) {
    if (!refused.has(name)) parameters[quirks.renames[name] ?? name] = value;
    else if (value === false) continue;
    else if (ESSENTIAL_PARAMETERS.has(name)) throw unsupported(name);
    else ignored.push(name);
  }
  const { standardTier } = quirks;
  if (call.hasTiers === true && tier === "standard" && standardTier !== undefined) {
    parameters[TIER_FIELD] = standardTier;
  }
  const { messages } = request;
  const dropped = MESSAGE_FIELDS.filter(
    ([name, field]) => refused.has(name) && messages.some((one) => one[field] !== undefined),
  );
  ignored.push(...dropped.map(([name]) => name));
  const fields = dropped.map(([, field]) => field);
  const fit = fields.length === 0 ? messages : messages.map((one) => without(one, fields));
  return { ...call, request: { ...request, messages: fit, parameters }, ignored };
}

const MESSAGE_FIELDS = [
  [NAME_FIELD, "name"],
  [REASONING_FIELD, "reasoning_content"],
] as const;

function without(message: ChatMessage, fields: readonly (keyof ChatMessage)[]): ChatMessage {
  const copy: { -readonly [Name in keyof ChatMessage]?: ChatMessage[Name] } = { ...message };
  for (const field of fields) delete copy[field];
  return copy as ChatMessage;
}
