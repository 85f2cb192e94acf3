// The identifiers that providers get of callers: stable, hashed, apart for each account and
// provider, and only in fields that the provider declares.

import { beforeEach, describe, expect, test } from "bun:test";
import { SafetyIds } from "../../../../src/core/access/safety-ids.ts";
import {
  PRESET_NAMES,
  PROVIDER_PRESETS,
  type PresetName,
  type ProviderPreset,
} from "../../../../src/services/chat/models/provider-presets.ts";
import {
  CallerIdentifiers,
  type GivenIdentifiers,
} from "../../../../src/services/chat/protocols/caller-identifiers.ts";
import { catalogueOf } from "../../../../src/settings/catalogue.ts";
import { chatOver, idle, modelOf, providerAt, REQUEST } from "../../../support/api/chat-routes.ts";
import { type FakeUpstream, startFakeUpstream } from "../../../support/fakes/fake-upstream.ts";
import {
  type SdkKind,
  sharedServiceAccount,
  WIRE_FORMS,
} from "../../../support/fakes/wire/wire-forms.ts";
import { startWireServer } from "../../../support/fakes/wire/wire-server.ts";
import { shared } from "../../../support/shared.ts";

const upstream: FakeUpstream = await shared(startFakeUpstream());
const wire = await shared(startWireServer());
const cloud = {
  region: "eu-west-1",
  serviceAccount: sharedServiceAccount(),
  awsKeys: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: null },
};

beforeEach(() => wire.reset());

const USAGE = { uncached: 20, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 4 };
const ANSWER = { text: ["Fares are paid."], end: "stop", usage: USAGE } as const;
const GIVEN = { user: "ada-plain", prompt_cache_key: "key-plain" } as const;
const PART = /^[a-z2-7]{26}$/;
const BOTH_PARTS = /^[a-z2-7]{26}_[a-z2-7]{26}$/;

interface Asked {
  readonly given?: GivenIdentifiers;
  readonly account?: string;
  readonly stream?: boolean;
  readonly fields?: ProviderPreset["identifiers"];
}

/** The body that a server of this preset gets, and the names in `svc.ignored`. */
async function asked(name: PresetName, { given, account = "acct_1", ...how }: Asked = {}) {
  const { kind, maxTokensField, quirks, identifiers }: ProviderPreset = PROVIDER_PRESETS[name];
  const { fields = identifiers, stream = false } = how;
  const isClaude = kind === "google-vertex" && fields.length > 0;
  const form = kind === "openai" ? null : WIRE_FORMS[isClaude ? "anthropic" : (kind as SdkKind)];
  if (form !== null) wire.queue(stream ? form.stream(ANSWER) : form.whole(ANSWER));
  const provider = providerAt(form === null ? upstream.baseUrl : wire.url, {
    kind,
    maxTokensField,
    quirks,
    cloud,
    ...(fields.length > 0 && { identifiers: { preset: name, fields } }),
  });
  const chat = chatOver(catalogueOf([], [provider]));
  const request = given === undefined ? REQUEST : { ...REQUEST, identifiers: given };
  const model = modelOf([provider.name, isClaude ? "claude-opus-5" : "ok"]);
  const options = { account, signal: idle() };
  const { ignored = [] } = stream
    ? await chat.stream(model, request, options)
    : await chat.complete(model, request, options);
  const { body = {} } = (form === null ? upstream.requests : wire.requests).at(-1) ?? {};
  return { body: body as Record<string, unknown>, ignored };
}

/** The values of the fields that may identify somebody. */
function identifiersIn(body: Record<string, unknown>): Record<string, unknown> {
  const { user, safety_identifier, prompt_cache_key, metadata } = body;
  const userId = (metadata as { user_id?: unknown } | undefined)?.user_id;
  const all = { user, safety_identifier, prompt_cache_key, "metadata.user_id": userId };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

describe.each(PRESET_NAMES)("%s", (name) => {
  const { identifiers: declared }: ProviderPreset = PROVIDER_PRESETS[name];
  const ofPeople = declared.filter((field) => field !== "prompt_cache_key");

  test.each([false, true])(
    "gets identifiers in the fields that it declares, streamed: %p",
    async (stream) => {
      const { body } = await asked(name, { stream });
      const sent = identifiersIn(body);
      expect(Object.keys(sent).sort()).toEqual([...ofPeople].sort());
      for (const value of Object.values(sent)) expect(value).toMatch(PART);
    },
  );

  test.each([false, true])("never gets a caller's plain value, streamed: %p", async (stream) => {
    const { body, ignored } = await asked(name, { given: GIVEN, stream });
    const sent = identifiersIn(body);
    expect(Object.keys(sent).sort()).toEqual([...declared].sort());
    for (const field of ofPeople) expect(sent[field]).toMatch(BOTH_PARTS);
    expect(JSON.stringify(body)).not.toMatch(/(?:ada|key)-plain/);
    const lost = [
      ...(ofPeople.length === 0 ? ["user"] : []),
      ...(declared.includes("prompt_cache_key") ? [] : ["prompt_cache_key"]),
    ];
    expect([...ignored].sort()).toEqual(lost.sort());
  });

  test("gets none where they are switched off", async () => {
    const { body } = await asked(name, { given: GIVEN, fields: [] });
    expect(identifiersIn(body)).toEqual({});
  });
});

test("Claude on Vertex gets an identifier where the configuration asks for it", async () => {
  const { body } = await asked("google-vertex", { fields: ["metadata.user_id"] });
  expect(identifiersIn(body)).toEqual({ "metadata.user_id": expect.stringMatching(PART) });
});

test("an identifier is stable, and apart for each account, person, secret and provider", () => {
  const ids = (secret: string, preset: string, account: string, user?: string) =>
    new CallerIdentifiers(secret).of(
      { preset, fields: ["user"] },
      account,
      user === undefined ? undefined : { user },
    ).sent.user;
  const all = [
    ids("one secret", "openai", "acct_1"),
    ids("one secret", "openai", "acct_2"),
    ids("one secret", "openai", "acct_1", "ada"),
    ids("one secret", "openai", "acct_1", "bob"),
    ids("one secret", "openai", "acct_2", "ada"),
    ids("one secret", "groq", "acct_1"),
    ids("two secret", "openai", "acct_1"),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(ids("one secret", "openai", "acct_1", "ada")).toBe(String(all[2]));
  // The first part names the account, whatever the person.
  for (const at of [2, 3]) expect(all[at]?.split("_")[0]).toBe(String(all[0]));
  // Values that stand in the identifiers of providers must not change with a release.
  expect(new SafetyIds("a secret of sixteen", "openai").accountPart("acct_1")).toBe(
    "vwi5bmccez4snml6dzrmmlsm2r",
  );
});

test("the sessions of one installation of Claude Code are one person to a provider", () => {
  const identifiers = new CallerIdentifiers("one secret");
  const anthropic = { preset: "anthropic", fields: ["metadata.user_id"] } as const;
  const sent = (id: string) => identifiers.of(anthropic, "acct_1", { "metadata.user_id": id }).sent;
  const session = (id: string) =>
    JSON.stringify({ device_id: "d1", account_uuid: "", session_id: id });
  expect(sent(session("a"))).toEqual(sent(session("b")));
  expect(sent(session("a"))).toEqual(sent("user_d1_account__session_c"));
  expect(sent(session("a"))).not.toEqual(sent(session("a").replace("d1", "d2")));
});

test("two accounts never share a key of a cache, and one account always does", () => {
  const identifiers = new CallerIdentifiers("one secret");
  const openai = { preset: "openai", fields: ["prompt_cache_key"] } as const;
  const key = (account: string, prompt_cache_key: string) =>
    identifiers.of(openai, account, { prompt_cache_key }).sent.prompt_cache_key;
  expect(key("acct_1", "k")).toBe(String(key("acct_1", "k")));
  expect(key("acct_1", "k")).not.toBe(key("acct_2", "k"));
  expect(key("acct_1", "k")).not.toBe(key("acct_1", "l"));
  // Without a key of the caller the provider decides alone.
  expect(identifiers.of(openai, "acct_1", undefined).sent).toEqual({});
});

test("an account is hashed once, however many calls it makes, and long values are not kept", () => {
  const identifiers = new CallerIdentifiers("one secret");
  const provider = { preset: "openai", fields: ["safety_identifier"] } as const;
  const first = identifiers.of(provider, "acct_1", undefined);
  expect(identifiers.of(provider, "acct_1", undefined)).toBe(first);
  const long = { user: "x".repeat(100_000) };
  expect(identifiers.of(provider, "acct_1", long).sent).toEqual(
    identifiers.of(provider, "acct_1", long).sent,
  );
});
