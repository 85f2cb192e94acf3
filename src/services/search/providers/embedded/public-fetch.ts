// Fetches web pages for the index, with bounds on size and time. Never fetches from this machine or
// its network, unless the operator allows that.

import type { CancelSignal } from "../../../../core/cancellation.ts";
import { OK } from "../../../../core/errors.ts";
import { thrownMessage } from "../../../../core/text/error-message.ts";
import { askPublic, type PinnedTarget, type Resolve } from "../../../../upstream/public-address.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import { exchange, type Fetch, giveUpBody, readBytes } from "../../../../upstream/upstream-http.ts";
import { pageUrl } from "../clean-result.ts";
import { htmlOfBytes } from "./page-text.ts";

/** A page could not be fetched; the message is for the operator. */
export class FetchFailure extends Error {
  override readonly name = "FetchFailure";
}

export interface PublicFetch {
  readonly fetch: Fetch;
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly allowPrivate: boolean;
  /** Looks up all addresses of a host; by default with this machine's resolver. */
  readonly addressesOf?: Resolve;
}

export interface Fetched {
  readonly url: URL;
  readonly type: string;
  readonly text: string;
}

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The text at a URL. Redirects are followed by the same rules. Throws a FetchFailure. */
export async function fetchPublic(start: URL, options: PublicFetch): Promise<Fetched> {
  const limit = new TimeLimit(options.timeoutMs);
  let url = start;
  try {
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      const { status, headers, text } = await get(url, options, limit.signal);
      if (status === OK) return { url, type: headers.get("content-type") ?? "", text };
      if (!REDIRECTS.has(status)) throw new FetchFailure(`the server answered ${status}`);
      url = redirected(url, headers.get("location"));
    }
  } catch (error) {
    if (error instanceof FetchFailure) throw error;
    throw new FetchFailure(thrownMessage(error));
  } finally {
    limit.end();
  }
  throw new FetchFailure(`there were more than ${REDIRECTS_MAX} redirects`);
}

/** One response; its text is read only where the status is 200. */
async function get(url: URL, options: PublicFetch, signal: CancelSignal) {
  const { allowPrivate, addressesOf: resolve } = options;
  return await askPublic(url, { allowPrivate, resolve }, (target) => ask(target, options, signal));
}

async function ask(target: PinnedTarget, { fetch, bytesMax }: PublicFetch, signal: CancelSignal) {
  return await exchange({ ...target, fetch, method: "GET", signal }, async (response) => {
    const { status, headers } = response;
    if (status === OK) {
      const bytes = await readBytes(response, bytesMax);
      return { status, headers, text: htmlOfBytes(bytes, headers.get("content-type") ?? "") };
    }
    await giveUpBody(response);
    return { status, headers, text: "" };
  });
}

function redirected(from: URL, location: string | null): URL {
  const target = location !== null && URL.canParse(location, from.href);
  const url = target ? pageUrl(new URL(location, from.href).href) : null;
  if (url === null) throw new FetchFailure("it redirects to what is no page");
  return url;
}
