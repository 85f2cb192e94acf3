// Asks a model server for its list of models, as an operator would to see whether the settings are
// right. A cloud without such a list is asked for a model that does not exist. Nothing is bought.

import { OK } from "../../../core/errors.ts";
import { thrownMessage } from "../../../core/text/error-message.ts";
import { isObject } from "../../../core/text/json.ts";
import { TimeLimit } from "../../../upstream/time-limit.ts";
import {
  exchange,
  type Fetch,
  giveUpBody,
  parseJson,
  readText,
} from "../../../upstream/upstream-http.ts";
import type { UpstreamResponse } from "../../../upstream/upstream-response.ts";
import type { ProviderEntry, ProviderKind } from "../models/catalogue.ts";
import { bedrock } from "./ai-sdk/bedrock.ts";
import type { SdkFetch, SdkForm } from "./ai-sdk/sdk-form.ts";
import { vertexForm } from "./ai-sdk/vertex.ts";

const LIST_BYTES_MAX = 8 * 1_024 * 1_024;
/** From here on a status says that the server is at fault. */
const FAILURES = 500;
/** Only this status says that the server has no such list. */
const NOT_IMPLEMENTED = 501;
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 403]);
const NO_MODEL = "farebox-doctor";

export type ProviderCheck =
  | { readonly ok: true; readonly models: number }
  /** The server answers, but with no list of models: not all servers have one. */
  | { readonly ok: true; readonly models: null; readonly status: number }
  /** The server takes the credentials, and has no list of models for them. */
  | { readonly ok: true; readonly models: "unlisted" }
  | { readonly ok: false; readonly problem: string };

interface CheckDeps {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** The address of a provider's list of models, and the headers with the key. */
interface ModelList {
  address(baseUrl: string): string;
  headers(apiKey: string): Readonly<Record<string, string>>;
}

const bearerList: ModelList = {
  address: (baseUrl) => `${baseUrl}/models`,
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
};

/** A list, or the form of a cloud that has none. */
const CHECKS: Readonly<
  Record<Exclude<ProviderKind, "guide">, ModelList | ((now: () => number) => SdkForm)>
> = {
  openai: bearerList,
  "openai-responses": bearerList,
  anthropic: {
    ...bearerList,
    headers: (apiKey) => ({ "x-api-key": apiKey, "anthropic-version": "2023-06-01" }),
  },
  google: { ...bearerList, headers: (apiKey) => ({ "x-goog-api-key": apiKey }) },
  // The list is of the first version alone.
  cohere: { ...bearerList, address: (baseUrl) => `${baseUrl.replace(/\/v2$/, "/v1")}/models` },
  "amazon-bedrock": () => bedrock,
  "google-vertex": (now) => vertexForm(now)(NO_MODEL),
};

/** Never rejects. */
export async function checkProvider(
  provider: ProviderEntry & { readonly kind: Exclude<ProviderKind, "guide"> },
  deps: CheckDeps,
): Promise<ProviderCheck> {
  const check = CHECKS[provider.kind];
  try {
    if (typeof check === "function") return await askCloud(provider, check(deps.now), deps);
    return await askForList(provider, check, deps);
  } catch (error) {
    return { ok: false, problem: thrownMessage(error) };
  }
}

async function askForList(
  { baseUrl, apiKey }: ProviderEntry,
  list: ModelList,
  { fetch, timeoutMs }: CheckDeps,
): Promise<ProviderCheck> {
  const limit = new TimeLimit(timeoutMs);
  const headers = apiKey === null ? {} : list.headers(apiKey);
  const url = list.address(baseUrl);
  return await exchange({ fetch, url, method: "GET", headers, limit }, readList);
}

/** The package makes and signs the request; of the answer only the status is read. */
async function askCloud(
  provider: ProviderEntry,
  form: SdkForm,
  { fetch, timeoutMs }: CheckDeps,
): Promise<ProviderCheck> {
  let status = 0;
  let failure: unknown = null;
  const send = async (input: string | URL, { headers, body }: RequestInit = {}) => {
    const limit = new TimeLimit(timeoutMs);
    const url = String(input);
    const sent = { headers: Object.fromEntries(new Headers(headers)), body: String(body) };
    try {
      await exchange({ fetch, url, method: "POST", ...sent, limit }, async (response) => {
        status = response.status;
        await giveUpBody(response);
      });
    } catch (error) {
      failure = error;
    }
    return new Response("{}", { status: 400 });
  };
  const model = await form.open({ provider, model: NO_MODEL, fetch }, send as unknown as SdkFetch);
  const content = [{ type: "text", text: "Fares" } as const];
  // Our answer to the package is no reply, so it always fails.
  await Promise.resolve(
    model.doGenerate({ prompt: [{ role: "user", content }], maxOutputTokens: 1 }),
  ).catch(() => {});
  if (failure !== null) throw failure;
  return refusalBy(status) ?? { ok: true, models: "unlisted" };
}

/** The problem that a status means; null for none. */
function refusalBy(status: number): ProviderCheck | null {
  if (UNAUTHORIZED.has(status)) {
    return { ok: false, problem: `The server refuses the key (${status})` };
  }
  const isFailure = status >= FAILURES && status !== NOT_IMPLEMENTED;
  return isFailure ? { ok: false, problem: `The server fails (${status})` } : null;
}

async function readList(response: UpstreamResponse): Promise<ProviderCheck> {
  const { status } = response;
  if (status !== OK) {
    await giveUpBody(response);
    return refusalBy(status) ?? { ok: true, models: null, status };
  }
  const list = parseJson(await readText(response, LIST_BYTES_MAX));
  const entries = isObject(list) ? (list.data ?? list.models) : null;
  return Array.isArray(entries)
    ? { ok: true, models: entries.length }
    : { ok: true, models: null, status };
}
