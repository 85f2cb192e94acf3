// Asks a model server for its list of models, as an operator would to see whether the settings are
// right. Nothing is bought.

import { OK } from "../../../core/errors.ts";
import { TimeLimit } from "../../../upstream/time-limit.ts";
import {
  exchange,
  type Fetch,
  giveUpBody,
  isObject,
  parseJson,
  readText,
} from "../../../upstream/upstream-http.ts";
import type { UpstreamResponse } from "../../../upstream/upstream-response.ts";
import type { ProviderEntry } from "../models/catalogue.ts";

const LIST_BYTES_MAX = 8 * 1_024 * 1_024;
/** From here on a status says that the server is at fault. */
const FAILURES = 500;
/** Of these only this one says that the server has no such list. */
const NOT_IMPLEMENTED = 501;
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 403]);

export type ProviderCheck =
  | { readonly ok: true; readonly models: number }
  /** It answers, but with no list of models: not all servers have one. */
  | { readonly ok: true; readonly models: null; readonly status: number }
  | { readonly ok: false; readonly problem: string };

/** Never rejects. */
export async function checkProvider(
  provider: ProviderEntry,
  { fetch, timeoutMs }: { readonly fetch: Fetch; readonly timeoutMs: number },
): Promise<ProviderCheck> {
  const { baseUrl, apiKey } = provider;
  const headers: Record<string, string> = {};
  if (apiKey !== null) headers.authorization = `Bearer ${apiKey}`;
  const limit = new TimeLimit(timeoutMs);
  try {
    const url = `${baseUrl}/models`;
    return await exchange({ fetch, url, method: "GET", headers, limit }, readList);
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

async function readList(response: UpstreamResponse): Promise<ProviderCheck> {
  if (UNAUTHORIZED.has(response.status)) {
    await giveUpBody(response);
    return { ok: false, problem: `The server refuses the key (${response.status})` };
  }
  const { status } = response;
  if (status !== OK) {
    await giveUpBody(response);
    const isFailure = status >= FAILURES && status !== NOT_IMPLEMENTED;
    if (isFailure) return { ok: false, problem: `The server fails (${status})` };
    return { ok: true, models: null, status };
  }
  const list = parseJson(await readText(response, LIST_BYTES_MAX));
  const data = isObject(list) && Array.isArray(list.data) ? list.data : null;
  return data === null ? { ok: true, models: null, status } : { ok: true, models: data.length };
}
