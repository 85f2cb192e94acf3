// Models on Amazon Bedrock, by its Converse.

import type { JSONValue } from "@ai-sdk/provider";
import { isObject } from "../../../../core/text/json.ts";
import { tierOf } from "../../request-tier.ts";
import { bedrockConverse } from "../../usage/bedrock-converse.ts";
import type { UpstreamCall } from "../protocol.ts";
import { budgetOptions } from "./anthropic.ts";
import type { OwnOptions, SdkForm } from "./sdk-form.ts";
import { rawReader } from "./sdk-usage.ts";

const OPTIONS_NAME = "amazonBedrock";

export const bedrock: SdkForm = {
  optionsName: OPTIONS_NAME,
  extraName: "bedrock",
  takesLaterSystem: false,
  metadata: {
    signature: "signature",
    redactedData: "redacted_data",
    redactedContent: "redacted_content",
  },
  async open({ provider, model }, fetch) {
    const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
    const { baseUrl: baseURL, apiKey, cloud } = provider;
    const { region = "", awsKeys } = cloud ?? {};
    // The package takes undefined options from the environment.
    return createAmazonBedrock({
      baseURL,
      region,
      fetch,
      apiKey: apiKey ?? "",
      accessKeyId: awsKeys?.accessKeyId ?? "",
      secretAccessKey: awsKeys?.secretAccessKey ?? "",
      ...(awsKeys?.sessionToken != null && { sessionToken: awsKeys.sessionToken }),
    })(model);
  },
  own: bedrockOptions,
  usage: rawReader(bedrockConverse, (usage, { metadata }) => {
    return { usage, serviceTier: metadata.serviceTier };
  }),
  limitOf: ({ inferenceConfig: config }) => (isObject(config) ? config.maxTokens : null),
};

/** Models of Amazon that take no output limit at a high effort, which then has no bound. */
const NOVA_2 = "amazon.nova-2";
const UNBOUNDED_EFFORTS: ReadonlySet<unknown> = new Set(["high", "xhigh", "max"]);
const EFFORT = "reasoning_effort";
const TIER = "service_tier";

async function bedrockOptions({ request, model }: UpstreamCall): Promise<OwnOptions> {
  const tier = tierOf(request);
  const serviceTier = tier === "standard" ? "default" : tier;
  const optionsOf = (own: Record<string, JSONValue>) => ({
    providerOptions: { [OPTIONS_NAME]: { serviceTier, ...own } },
  });
  if (model.includes(NOVA_2) && UNBOUNDED_EFFORTS.has(request.parameters.reasoning_effort)) {
    // The highest effort within a limit (D-675).
    const options = { ...optionsOf({}), reasoning: "medium" } as const;
    return { options, takes: [TIER, EFFORT], ignored: [EFFORT] };
  }
  if (!model.includes("claude")) return { options: optionsOf({}), takes: [TIER] };
  const { thinking, maxOutputTokens, takes, ignored } = await budgetOptions(request, model);
  const own = { takes: [...takes, TIER], ignored };
  if (thinking === null || maxOutputTokens === null) return { ...own, options: optionsOf({}) };
  return { ...own, options: { maxOutputTokens, ...optionsOf({ reasoningConfig: thinking }) } };
}
