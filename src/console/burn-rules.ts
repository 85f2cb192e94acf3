// The burn-rate rules of an account, the alarms that they raised, and the end of their measures.

import { findOwnKey } from "../accounts/administration.ts";
import { addOwnBurnRule, removeOwnBurnRule, resumeKey } from "../accounts/burn-rates.ts";
import {
  BURN_ACTIONS,
  BURN_BOUNDS,
  type BurnTerms,
  burnProblem,
  burnWords,
} from "../core/access/burn-rules.ts";
import { flag, type WireOf } from "../core/records.ts";
import { BrokenRule, positiveAmountFrom } from "../core/text/field-rules.ts";
import { readField } from "../http/body/checks.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { type AccountContext, accountEndpoint } from "../http/console/console-endpoint.ts";
import { usdSchema } from "../http/console/fields.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { type Checked, nullable, oneOf, optional, Type, text, whole } from "../http/schema.ts";
import { numberFrom } from "../readings/list-reading.ts";
import { APPLIED } from "./applied.ts";
import { BURN_ALARMS, BurnRules, burnRulesReply } from "./burn-lists.ts";
import type { LimitsDeps } from "./limits.ts";
import { noted } from "./noted.ts";

type LimitsContext = AccountContext<LimitsDeps>;

const PATH = "/console/api/accounts/{account}/burn-rules";
const BODY_BYTES_MAX = 1_024;
const { times, requestsPerMinute, minutes } = BURN_BOUNDS;

const list = accountEndpoint({
  id: "listBurnRules",
  method: "GET",
  path: PATH,
  role: "viewer",
  summary: "List the burn-rate rules of an account, and the keys that they slow or pause now",
  ...replyWith(BurnRules, { summary: "One rule" }),
  run: ({ deps, account }: LimitsContext) => burnRulesReply(deps.administration, account),
});

const Rule = Type.Object(
  {
    key: optional(text({ description: "The id of its key; missing: for each key" })),
    above_usd: usdSchema("The spending of a key within five minutes from which on the rule fires"),
    times_usual: Type.Optional(
      nullable(
        whole(times.min, times.max, { description: "Also so many times the usual spending" }),
      ),
    ),
    action: oneOf(BURN_ACTIONS, { description: "What happens to the key, beside the notices" }),
    requests_per_minute: Type.Optional(
      nullable(
        whole(requestsPerMinute.min, requestsPerMinute.max, {
          description: "For `slow`: the requests that the key may make in 60 seconds",
        }),
      ),
    ),
    minutes: Type.Optional(
      nullable(
        whole(minutes.min, minutes.max, {
          description: "For `slow` and `pause`: after how long that ends by itself",
        }),
      ),
    ),
  },
  { additionalProperties: false },
);
export type BurnRuleFields = Checked<typeof Rule>;

const add = accountEndpoint({
  id: "addBurnRule",
  method: "POST",
  path: PATH,
  role: "admin",
  summary: "Add a burn-rate rule: what happens to a key that spends much within five minutes",
  body: jsonBody(Rule, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(BurnRules, {
    summary: "A pause of half an hour",
    body: { above_usd: "5", action: "pause", minutes: 30 },
  }),
  async run(context: LimitsContext, { key: keyId, ...fields }: BurnRuleFields) {
    const { deps, account } = context;
    const terms = termsOf(fields);
    const key = keyId == null ? null : await findOwnKey(deps.administration, account, keyId);
    const about = `${key === null ? "each key" : key.name}: ${burnWords(terms)}`;
    const also = noted(context, "burn_rule_added", about);
    await addOwnBurnRule(deps.administration, account, { ...terms, key: key?.id ?? null, also });
    return await burnRulesReply(deps.administration, account);
  },
});

function termsOf(fields: Omit<BurnRuleFields, "key">): BurnTerms {
  const terms = {
    amount: readField("above_usd", () => positiveAmountFrom(fields.above_usd)),
    times: fields.times_usual ?? null,
    action: fields.action,
    requestsPerMinute: fields.requests_per_minute ?? null,
    minutes: fields.minutes ?? null,
  };
  const problem = burnProblem(terms);
  if (problem === null) return terms;
  return readField(problem.field, () => {
    throw new BrokenRule(problem.must);
  });
}

const Done = { done: flag({ sample: true }) };

const remove = accountEndpoint({
  id: "removeBurnRule",
  method: "POST",
  path: `${PATH}/{rule}/remove`,
  role: "admin",
  summary: "Remove a burn-rate rule; what it did to a key lasts until its end",
  ...replyWith(Done, { summary: "Removed" }),
  async run(context: LimitsContext) {
    const number = numberFrom(context.params.rule ?? "") ?? 0;
    const also = noted(context, "burn_rule_removed", `rule ${number}`);
    await removeOwnBurnRule(context.deps.administration, context.account, { number, also });
    return { done: true };
  },
});

const alarms = accountEndpoint({
  id: "listBurnAlarms",
  path: "/console/api/accounts/{account}/burn-alarms",
  role: "viewer",
  summary: "List the keys that burn-rate rules found to spend fast, newest first",
  ...BURN_ALARMS.endpoint("One alarm"),
  run: ({ deps, account }: LimitsContext, input) =>
    BURN_ALARMS.page({ database: deps.administration.accounts.deps.database, account }, input),
});

const Resumed = { done: flag({ sample: true }), applied: APPLIED };
export type ResumedKeyReply = WireOf<typeof Resumed>;

const resume = accountEndpoint({
  id: "resumeKey",
  method: "POST",
  path: "/console/api/accounts/{account}/keys/{key}/resume",
  role: "admin",
  summary: "End what burn-rate rules have done to a key, before its time",
  ...replyWith(Resumed, { summary: "It takes calls again" }),
  async run(context: LimitsContext) {
    const { deps, account, params } = context;
    const key = await findOwnKey(deps.administration, account, params.key ?? "");
    const also = noted(context, "key_resumed", key.name);
    const { applied } = await resumeKey(deps.administration, account, { key: key.id, also });
    return { done: true, applied };
  },
});

export const BURN_ENDPOINTS = [list, add, remove, alarms, resume] as const;
