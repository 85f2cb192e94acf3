// The OpenAI parameters that a chat request may carry besides its messages. What stands here is
// checked and forwarded; nothing else ever is.

import { CHAT } from "../../core/limits.ts";
import {
  asArray,
  asBoolean,
  asInteger,
  asJson,
  asNumber,
  asObject,
  asShortText,
  asText,
  type Check,
  invalid,
  isAbsent,
  oneOf,
} from "../../http/checks.ts";
import type { UncheckedObject } from "../../http/read-body.ts";

const TOOLS_MAX = 128;
const STOPS_MAX = 4;
const BIASES_MAX = 1024;

const asToolName = asShortText(64);
const asBias = asNumber(-100, 100);
const asMaxTokens = asInteger(1, CHAT.maxTokensMax);
const asToolMode = oneOf("none", "auto", "required");
const asFormatType = oneOf("text", "json_object", "json_schema");

/** By name; a parameter that is null counts as not given. */
const CHECKS: readonly (readonly [name: string, check: Check<unknown>])[] = Object.entries({
  temperature: asNumber(0, CHAT.temperatureMax),
  top_p: asNumber(0, CHAT.topPMax),
  presence_penalty: asNumber(-2, 2),
  frequency_penalty: asNumber(-2, 2),
  seed: asInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  stop: readStop,
  tools: readTools,
  tool_choice: readToolChoice,
  parallel_tool_calls: asBoolean,
  response_format: readResponseFormat,
  logit_bias: readLogitBias,
  reasoning_effort: asShortText(32),
  user: asText,
});

/** The parameters to forward, each checked. */
export function readParameters(body: UncheckedObject): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  for (const [name, check] of CHECKS) {
    const value = body[name];
    if (!isAbsent(value)) parameters[name] = check(value, name);
  }
  if (!isAbsent(body.n) && body.n !== 1) throw invalid("n", "must be 1");
  // Usage is asked of the upstream in any case; what the caller says of it is only checked.
  if (!isAbsent(body.stream_options)) {
    const { include_usage: wanted } = asObject(body.stream_options, "stream_options");
    if (!isAbsent(wanted)) asBoolean(wanted, "stream_options.include_usage");
  }
  return parameters;
}

/** The output limit, under either of its names. */
export function readMaxTokens(body: UncheckedObject): number {
  const { max_tokens: limit, max_completion_tokens: alias } = body;
  const first = isAbsent(limit) ? null : asMaxTokens(limit, "max_tokens");
  const second = isAbsent(alias) ? first : asMaxTokens(alias, "max_completion_tokens");
  if (first !== null && first !== second) {
    throw invalid("max_completion_tokens", "must not differ from max_tokens");
  }
  return second ?? CHAT.maxTokensDefault;
}

function readStop(value: unknown, field: string): string | string[] {
  if (!Array.isArray(value)) return asText(value, field);
  return asArray(value, field, STOPS_MAX).map((item, index) => asText(item, `${field}[${index}]`));
}

function readTools(value: unknown, field: string): unknown[] {
  return asArray(value, field, TOOLS_MAX).map((item, index) => {
    const at = `${field}[${index}]`;
    const tool = asObject(item, at);
    if (tool.type !== "function") throw invalid(`${at}.type`, "must be 'function'");
    const definition = asObject(tool.function, `${at}.function`);
    const kept: Record<string, unknown> = {
      name: asToolName(definition.name, `${at}.function.name`),
    };
    if (!isAbsent(definition.description)) {
      kept.description = asText(definition.description, `${at}.function.description`);
    }
    if (!isAbsent(definition.parameters)) {
      const field = `${at}.function.parameters`;
      kept.parameters = asJson(asObject(definition.parameters, field), field);
    }
    if (!isAbsent(definition.strict)) {
      kept.strict = asBoolean(definition.strict, `${at}.function.strict`);
    }
    return { type: "function", function: kept };
  });
}

function readToolChoice(value: unknown, field: string): unknown {
  if (typeof value === "string") return asToolMode(value, field);
  const choice = asObject(value, field);
  if (choice.type !== "function") throw invalid(`${field}.type`, "must be 'function'");
  const chosen = asObject(choice.function, `${field}.function`);
  return {
    type: "function",
    function: { name: asToolName(chosen.name, `${field}.function.name`) },
  };
}

function readResponseFormat(value: unknown, field: string): unknown {
  const format = asObject(value, field);
  const type = asFormatType(format.type, `${field}.type`);
  if (type !== "json_schema") return { type };
  const at = `${field}.json_schema`;
  const wanted = asObject(format.json_schema, at);
  const kept: Record<string, unknown> = { name: asToolName(wanted.name, `${at}.name`) };
  if (!isAbsent(wanted.description)) {
    kept.description = asText(wanted.description, `${at}.description`);
  }
  if (!isAbsent(wanted.schema)) {
    kept.schema = asJson(asObject(wanted.schema, `${at}.schema`), `${at}.schema`);
  }
  if (!isAbsent(wanted.strict)) kept.strict = asBoolean(wanted.strict, `${at}.strict`);
  return { type, json_schema: kept };
}

function readLogitBias(value: unknown, field: string): Record<string, number> {
  const biases: Record<string, number> = {};
  const entries = Object.entries(asObject(value, field));
  if (entries.length > BIASES_MAX) throw invalid(field, `must have at most ${BIASES_MAX} tokens`);
  for (const [token, bias] of entries) {
    if (!/^\d{1,9}$/.test(token)) {
      if (token === "__proto__") continue;
      throw invalid(field, "must have token ids as its keys");
    }
    biases[token] = asBias(bias, `${field}.${token}`);
  }
  return biases;
}
