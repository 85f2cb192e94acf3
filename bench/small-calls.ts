// Makes and measures the small calls of one account, which other accounts slow down.

import { temporaryFolder } from "../scripts/local/processes.mjs";
import { makeCallers, type Stores, startApi, startStores } from "./farebox.ts";
import { startUpstream, type Target } from "./targets.ts";

/** A key can send 10,000 calls a minute, which is less than one caller can make. */
const KEYS = 8;

export interface SmallCaller {
  readonly stores: Stores;
  /** The API process that is called. */
  readonly target: Target;
  readonly keys: readonly string[];
}

/** Starts stores, upstream and API process, and makes an account. `cleanup` stops all of them. */
export async function startSmallCaller(
  cleanup: AsyncDisposableStack,
  folderName: string,
  env: Readonly<Record<string, string>> = {},
): Promise<SmallCaller> {
  const folder = temporaryFolder(folderName);
  cleanup.defer(() => folder.remove());
  const stores = await startStores(`${folder.path}/home`);
  cleanup.defer(() => stores.stop());
  const upstream = await startUpstream(folder.path);
  cleanup.defer(() => upstream.stop());
  const callers = await makeCallers(stores, { accountCount: 1, keysAnAccount: KEYS });
  const keys = callers.map(({ secret }) => secret);
  const place = { logFolder: folder.path, upstreamUrl: upstream.url, env };
  const api = await startApi(stores, place, { secrets: keys });
  cleanup.defer(() => api.stop());
  return { stores, target: api.target, keys };
}

/** Makes one call after the other while `goesOn` is true; returns their times in milliseconds. */
export async function timesOf(
  { target: { url }, keys }: Pick<SmallCaller, "target" | "keys">,
  goesOn: (calls: number) => boolean,
): Promise<number[]> {
  const times: number[] = [];
  const body = bodyOf("Hello");
  while (goesOn(times.length)) {
    const key = keys[times.length % keys.length] ?? "";
    const begun = performance.now();
    const response = await fetch(url, { method: "POST", headers: headersOf(key), body });
    await response.bytes();
    if (!response.ok) throw new Error(`A small call was answered ${response.status}`);
    times.push(performance.now() - begun);
  }
  return times;
}

/** Returns a function that is true for this many milliseconds from now. */
export function during(ms: number): () => boolean {
  const endMs = performance.now() + ms;
  return () => performance.now() < endMs;
}

export function bodyOf(content: string): string {
  return JSON.stringify({ model: "plain", messages: [{ role: "user", content }], max_tokens: 50 });
}

export function headersOf(key: string): Record<string, string> {
  return { "content-type": "application/json", authorization: `Bearer ${key}` };
}
