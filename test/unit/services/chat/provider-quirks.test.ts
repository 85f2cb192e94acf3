// Servers of OpenAI's form whose habits are known: each gets its part of the same request, and
// never a field that the server refuses.

import { describe, expect, test } from "bun:test";
import {
  PRESET_NAMES,
  PROVIDER_PRESETS,
  type PresetName,
  type ProviderPreset,
} from "../../../../src/services/chat/models/provider-presets.ts";
import {
  completeUpstream,
  streamUpstream,
} from "../../../../src/services/chat/protocols/openai/openai-provider.ts";
import type { UpstreamCall } from "../../../../src/services/chat/protocols/protocol.ts";
import { UnableFailure } from "../../../../src/upstream/route-failure.ts";
import { providerAt, REQUEST, upstreamCall } from "../../../support/api/chat-routes.ts";
import { rejection } from "../../../support/api/rejection.ts";
import { startFakeUpstream } from "../../../support/fakes/fake-upstream.ts";
import { shared } from "../../../support/shared.ts";

const upstream = await shared(startFakeUpstream());
const PASSED = PRESET_NAMES.filter((name) => PROVIDER_PRESETS[name].kind === "openai");

function callOf(name: PresetName, parts: Partial<UpstreamCall["request"]> = {}): UpstreamCall {
  const { maxTokensField, quirks }: ProviderPreset = PROVIDER_PRESETS[name];
  const provider = providerAt(upstream.baseUrl, { maxTokensField, quirks });
  return upstreamCall(provider, "ok", { request: { ...REQUEST, ...parts } });
}

async function sent(name: PresetName, parts: Partial<UpstreamCall["request"]> = {}) {
  const { ignored = [] } = await completeUpstream(callOf(name, parts));
  return { ignored, body: upstream.requests.at(-1)?.body ?? {} };
}

const EVERYTHING = {
  temperature: 0.5,
  seed: 7,
  stop: ["END"],
  verbosity: "low",
  logprobs: false,
};

/** The fields of a request with everything, besides those that every request has. */
const FIELDS: Readonly<Partial<Record<PresetName, readonly string[]>>> = {
  "openai-compatible": Object.keys(EVERYTHING),
  azure: ["temperature", "seed", "stop", "verbosity", "logprobs"],
  deepseek: ["temperature", "seed", "stop", "verbosity", "logprobs"],
  groq: ["temperature", "seed", "stop", "verbosity", "service_tier"],
  mistral: ["temperature", "random_seed", "stop"],
  openai: [...Object.keys(EVERYTHING), "service_tier", "store"],
  openrouter: ["temperature", "seed", "stop", "verbosity", "logprobs", "service_tier", "usage"],
  xai: ["temperature", "seed", "stop", "verbosity", "logprobs", "service_tier"],
};

describe.each(PASSED)("%s", (name) => {
  test("gets the fields that it knows, and the caller learns of the others", async () => {
    const { body, ignored } = await sent(name, { parameters: EVERYTHING });
    const { maxTokensField } = PROVIDER_PRESETS[name];
    const always = ["messages", "model", "stream", maxTokensField];
    expect(Object.keys(body).sort()).toEqual([...always, ...(FIELDS[name] ?? [])].sort());
    expect(body[maxTokensField]).toBe(REQUEST.maxTokens);
    const renamed = { seed: "random_seed" } as Readonly<Record<string, string>>;
    const lost = Object.keys(EVERYTHING).filter(
      (field) => !(field in body || (renamed[field] ?? "") in body || field === "logprobs"),
    );
    expect([...ignored].sort()).toEqual(lost.sort());
  });

  test("is asked for the usage of a stream unless it sends it unasked", async () => {
    await Array.fromAsync(streamUpstream(callOf(name)));
    const asked = upstream.requests.at(-1)?.body.stream_options;
    expect(asked).toEqual(name === "mistral" ? undefined : { include_usage: true });
  });
});

test.each([
  ["groq", "logprobs"],
  ["groq", "logit_bias"],
  ["mistral", "logprobs"],
  ["xai", "logit_bias"],
] as const)("%s refuses %s by name, whole and streamed", async (name, parameter) => {
  const call = callOf(name, { parameters: { [parameter]: true } });
  const asked = upstream.requests.length;
  const whole = await rejection(completeUpstream(call));
  const streamed = await rejection(Promise.resolve().then(() => streamUpstream(call).next()));
  for (const error of [whole, streamed]) {
    expect(error).toBeInstanceOf(UnableFailure);
    expect((error as UnableFailure).refusal).toMatchObject({ param: parameter });
  }
  expect(upstream.requests.length).toBe(asked);
});

test("OpenAI is told to store nothing, whole and streamed, whatever the model takes", async () => {
  const request = { ...REQUEST, extras: new Map([["store", true]]) };
  await completeUpstream(callOf("openai", request));
  expect(upstream.requests.at(-1)?.body.store).toBe(false);
  await Array.fromAsync(streamUpstream(callOf("openai", request)));
  expect(upstream.requests.at(-1)?.body.store).toBe(false);
});

/** The `service_tier` that each server gets: without a choice, for flex, and for priority. */
const TIERS: Readonly<Partial<Record<PresetName, readonly (string | undefined)[]>>> = {
  "openai-compatible": [undefined, "flex", "priority"],
  azure: [undefined, undefined, "priority"],
  deepseek: [undefined, undefined, undefined],
  groq: ["on_demand", "flex", "on_demand"],
  mistral: [undefined, undefined, undefined],
  openai: ["default", "flex", "priority"],
  openrouter: ["default", "flex", "priority"],
  xai: ["default", "default", "priority"],
};

describe.each(PASSED)("%s", (name) => {
  test("gets the tiers that it sells; another one is named, and not charged as asked", async () => {
    for (const [at, tier] of ([undefined, "flex", "priority"] as const).entries()) {
      const parameters = tier === undefined ? {} : { service_tier: tier };
      const expected = TIERS[name]?.[at];
      const { body, ignored } = await sent(name, { parameters });
      expect(body.service_tier).toBe(expected);
      const isSold = tier === undefined || expected === tier;
      expect(ignored).toEqual(isSold ? [] : ["service_tier"]);
      // The server of this test names no tier: then the call counts as one of the tier that was
      // sent.
      const { usage } = await completeUpstream(callOf(name, { parameters }));
      expect(usage?.served?.tier).toEqual(isSold && tier !== undefined ? tier : "standard");
    }
  });
});

test("names of messages are left out for Groq, and named", async () => {
  const messages = [{ role: "user", content: "Hello", name: "ada" } as const];
  const { body, ignored } = await sent("groq", { messages });
  expect(body.messages).toEqual([{ role: "user", content: "Hello" }]);
  expect(ignored).toEqual(["messages[].name"]);
});
