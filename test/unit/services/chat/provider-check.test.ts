// The findings of `farebox doctor` about each kind of provider, over real HTTP: whether it answers,
// and takes the credentials.

import { expect, test } from "bun:test";
import type { ProviderEntry } from "../../../../src/services/chat/models/catalogue.ts";
import { checkProvider } from "../../../../src/services/chat/protocols/provider-check.ts";
import { KEY, providerAt } from "../../../support/api/chat-routes.ts";
import { upstreamFetch } from "../../../support/fakes/upstream-fetch.ts";
import { serviceAccountAt } from "../../../support/fakes/wire/wire-forms.ts";
import { sharedServer } from "../../../support/shared.ts";

let status = 200;
const asked: { readonly url: string; readonly headers: Headers }[] = [];
const server = sharedServer((request) => {
  asked.push({ url: request.url, headers: new Headers(request.headers) });
  const { pathname } = new URL(request.url);
  if (pathname === "/token") return Response.json({ access_token: "ya29.token" });
  return Response.json({ data: [{ id: "a" }, { id: "b" }] }, { status });
});
const url = String(server.url).replace(/\/$/, "");
const cloud = {
  region: "us-east-1",
  awsKeys: { accessKeyId: "AKIA1", secretAccessKey: KEY, sessionToken: null },
  serviceAccount: serviceAccountAt(`${url}/token`),
};

type Kind = Exclude<ProviderEntry["kind"], "guide">;

function check(kind: Kind, overrides: Partial<ProviderEntry> = {}) {
  const provider = { ...providerAt(url, { cloud, ...overrides }), kind };
  return checkProvider(provider, { fetch: upstreamFetch, timeoutMs: 10_000, now: Date.now });
}

const LISTS = [
  ["openai", "authorization", `Bearer ${KEY}`],
  ["openai-responses", "authorization", `Bearer ${KEY}`],
  ["anthropic", "x-api-key", KEY],
  ["google", "x-goog-api-key", KEY],
  ["cohere", "authorization", `Bearer ${KEY}`],
] as const;

test.each(LISTS)("%s is asked for its models, with the key where it wants it", async (...row) => {
  const [kind, header, value] = row;
  status = 200;
  expect(await check(kind)).toEqual({ ok: true, models: 2 });
  expect(asked.at(-1)?.headers.get(header)).toBe(value);
});

const KINDS = [...LISTS.map(([kind]) => kind), "amazon-bedrock", "google-vertex"] as const;

test.each(KINDS)("%s with wrong credentials is a problem that does not name them", async (kind) => {
  status = 403;
  const found = await check(kind);
  expect(found).toEqual({ ok: false, problem: "The server refuses the key (403)" });
});

test.each([
  ["amazon-bedrock", 400, "AWS4-HMAC-SHA256 Credential=AKIA1"],
  ["google-vertex", 404, "Bearer ya29.token"],
] as const)("%s is asked for a model that does not exist", async (kind, refusal, start) => {
  status = refusal;
  expect(await check(kind, { apiKey: null })).toEqual({ ok: true, models: "unlisted" });
  expect(asked.at(-1)?.headers.get("authorization")).toStartWith(start);
  expect(asked.at(-1)?.url).toContain("farebox-doctor");
});

test("a server that is away is a problem", async () => {
  const gone = sharedServer(() => new Response());
  const baseUrl = String(gone.url).replace(/\/$/, "");
  await gone.stop(true);
  for (const kind of KINDS) {
    const cloudAway = { ...cloud, serviceAccount: serviceAccountAt(`${url}/token`) };
    expect(await check(kind, { baseUrl, cloud: cloudAway })).toMatchObject({ ok: false });
  }
});
