// Makes models and providers with fake upstreams, and the chat provider that serves them.

import type { Clock } from "../../../src/core/clock.ts";
import type { UpstreamMeter } from "../../../src/core/upstream-meter.ts";
import {
  bandPrices,
  type ChatCatalogue,
  type ModelEntry,
  PROVIDER_DEFAULTS,
  type ProviderEntry,
} from "../../../src/services/chat/models/catalogue.ts";
import { CallerIdentifiers } from "../../../src/services/chat/protocols/caller-identifiers.ts";
import { createChatProvider } from "../../../src/services/chat/protocols/chat-provider.ts";
import type { Guide } from "../../../src/services/chat/protocols/guide/guide.ts";
import type { UpstreamCall } from "../../../src/services/chat/protocols/protocol.ts";
import type {
  ChatBatch,
  ChatProvider,
  ChatRequest,
} from "../../../src/services/chat/protocols/provider.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { realClock } from "../fakes/fake-clock.ts";
import type { FakeUpstream } from "../fakes/fake-upstream.ts";
import { silent } from "../fakes/silent-log.ts";
import { upstreamFetch } from "../fakes/upstream-fetch.ts";

export const KEY = "sk-fake-key-that-nobody-may-see";
export const PROMPT = "the canary of the prompt";

export const REQUEST: ChatRequest = {
  messages: [{ role: "user", content: PROMPT }],
  maxTokens: 32,
  parameters: {},
};

/** Limits so long that only the caller can end a request. */
export const PATIENT = {
  firstByteTimeoutMs: 600_000,
  replyTimeoutMs: 600_000,
  idleTimeoutMs: 600_000,
} as const;

/** A test waits this long for a reply that never comes. */
const OUTWAITED_MS = 100;

/** The moods in which a server never continues, with the limits that end the wait. */
const HANGING: Readonly<Record<string, Partial<ProviderEntry>>> = {
  "hang-before-headers": { firstByteTimeoutMs: OUTWAITED_MS, replyTimeoutMs: OUTWAITED_MS },
  "hang-in-error": { firstByteTimeoutMs: OUTWAITED_MS, replyTimeoutMs: OUTWAITED_MS },
  "hang-mid-stream": { replyTimeoutMs: OUTWAITED_MS, idleTimeoutMs: OUTWAITED_MS },
  "hang-after-finish": { idleTimeoutMs: OUTWAITED_MS, usageTimeoutMs: 600_000 },
};

/** The limits of a provider in this mood: only a limit that ends the mood's wait is short. */
export function limitsIn(mood: string): Partial<ProviderEntry> {
  return HANGING[mood] ?? {};
}

/** A provider at an address. The limits are so long that a busy machine does not reach them. */
export function providerAt(baseUrl: string, overrides: Partial<ProviderEntry> = {}): ProviderEntry {
  return {
    ...PROVIDER_DEFAULTS,
    name: "fictional-ai",
    kind: "openai",
    baseUrl,
    apiKey: KEY,
    ...PATIENT,
    ...overrides,
  };
}

/** A model with one route for each of these providers and upstream models. */
export function modelOf(...routes: readonly (readonly [string, string])[]): ModelEntry {
  return {
    id: "public-model",
    label: "A model",
    family: "fake",
    ownedBy: "fake",
    prices: bandPrices({ input: "1", output: "2" }),
    contextTokens: 100_000,
    freeCreditEligible: true,
    routes: routes.map(([provider, model]) => ({ provider, model })),
  };
}

export interface Routes {
  readonly chat: ChatProvider;
  /** A model whose first route has this mood and whose other routes have the mood `ok`. */
  model(mood: string): ModelEntry;
  /** Everything that was logged, as text. */
  readonly logged: string[];
  /** The breakers' clock. */
  clockMs: number;
}

/** The identifiers that these providers get. */
export const identifiers = new CallerIdentifiers("the secret of the tests' identifiers");

/** For a catalogue without the guide. */
export const noGuide: Guide = {
  complete: () => Promise.reject(new Error("There is no guide here")),
  stream: () => {
    throw new Error("There is no guide here");
  },
};

/** The chat provider of a catalogue without the guide, on the real clock or one of the test. */
export function chatOver(catalogue: ChatCatalogue, clock: Clock = realClock): ChatProvider {
  return createChatProvider({
    identifiers,
    catalogue: () => catalogue,
    guide: noGuide,
    fetch: upstreamFetch,
    clock,
    log: silent,
  });
}

/** A chat provider over these providers in this order. */
export function routesOver(providers: readonly ProviderEntry[], meter?: UpstreamMeter): Routes {
  const logged: string[] = [];
  const note = (fields: object, message: string) => logged.push(`${message} ${inspected(fields)}`);
  const catalogue = catalogueOf([], providers);
  const routes: Routes = {
    chat: createChatProvider({
      identifiers,
      catalogue: () => catalogue,
      guide: noGuide,
      fetch: upstreamFetch,
      clock: { ...realClock, monotonicMs: () => routes.clockMs },
      log: { info: note, warn: note, error: note },
      ...(meter !== undefined && { meter }),
    }),
    model: (mood) => modelOf(...providers.map(({ name }, at) => [name, at ? "ok" : mood] as const)),
    logged,
    clockMs: 0,
  };
  return routes;
}

/**
 * One provider for each upstream, named `first-ai` and so on; `ofFirst` changes the first one's
 * terms.
 */
export function routesTo(
  upstreams: readonly FakeUpstream[],
  ofFirst: Partial<ProviderEntry> = {},
  meter?: UpstreamMeter,
): Routes {
  const names = ["first-ai", "second-ai", "third-ai"];
  const providers = upstreams.map(({ baseUrl }, at) =>
    providerAt(baseUrl, { name: names[at] ?? "another-ai", ...(at === 0 && ofFirst) }),
  );
  return routesOver(providers, meter);
}

/** The text of an error with all its causes. */
export function inspected(value: unknown): string {
  return Bun.inspect(value, { depth: 10 });
}

/** The adapter's request to a server. */
export function upstreamCall(
  provider: ProviderEntry,
  model: string,
  parts: Partial<UpstreamCall> = {},
): UpstreamCall {
  return {
    provider,
    model,
    publicId: "public-model",
    request: REQUEST,
    showsReasoning: false,
    account: "acct_0",
    signal: idle(),
    fetch: upstreamFetch,
    ...parts,
  };
}

export const idle = () => new AbortController().signal;

/** Reads a whole stream: its text, its batches and its last usage. */
export async function readAll(batches: AsyncIterable<ChatBatch>) {
  const all: ChatBatch[] = [];
  for await (const batch of batches) all.push(batch);
  const deltas = all.flatMap((batch) => batch.deltas);
  return {
    batches: all,
    deltas,
    text: deltas.map(({ delta }) => delta.content ?? "").join(""),
    usage: all.findLast(({ usage }) => usage !== null)?.usage ?? null,
  };
}

let asked = 0;

/** Returns four accounts in turn, because failures of only a few accounts do not open a breaker. */
function another(): string {
  asked += 1;
  return `acct_${asked % 4}`;
}

/** The text and usage of a call, with or without streaming. */
export async function ask(
  { chat }: Pick<Routes, "chat">,
  model: ModelEntry,
  { stream, signal = idle(), request = REQUEST, account = another() }: AskOptions,
) {
  if (stream) return await readAll(await chat.stream(model, request, { account, signal }));
  const { choices, usage } = await chat.complete(model, request, { account, signal });
  return { text: choices[0]?.message.content ?? "", usage };
}

export interface AskOptions {
  readonly stream: boolean;
  readonly signal?: AbortSignal;
  readonly request?: ChatRequest;
  readonly account?: string;
}
