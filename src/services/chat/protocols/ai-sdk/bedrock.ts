// Models on Amazon Bedrock, by its Converse.

import { isObject } from "../../../../upstream/upstream-http.ts";
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
    // The package takes from the environment what is undefined.
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
  usage: rawReader(bedrockConverse, (usage) => ({ usage })),
  limitOf: ({ inferenceConfig: config }) => (isObject(config) ? config.maxTokens : null),
};

async function bedrockOptions({ request, model }: UpstreamCall): Promise<OwnOptions> {
  if (!model.includes("claude")) return {};
  const { thinking, maxOutputTokens, takes, ignored } = await budgetOptions(request, model);
  if (thinking === null || maxOutputTokens === null) return { takes, ignored };
  const providerOptions = { [OPTIONS_NAME]: { reasoningConfig: thinking } };
  return { options: { maxOutputTokens, providerOptions }, takes, ignored };
}
