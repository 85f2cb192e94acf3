// Fetches web pages for the index, with bounds on size and time. Never fetches from this machine or
// its network, unless the operator allows that.

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { CancelSignal } from "../../../../core/cancellation.ts";
import { OK } from "../../../../core/errors.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import {
  exchange,
  type Fetch,
  giveUpBody,
  readBytes,
  type UpstreamRequest,
} from "../../../../upstream/upstream-http.ts";
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
  readonly addressesOf?: (host: string) => Promise<readonly string[]>;
}

export interface Fetched {
  readonly url: URL;
  readonly type: string;
  readonly text: string;
}

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The part of IPv6 that is allocated for public use so far. */
const GIVEN_OUT = ipaddr.IPv6.parseCIDR("2000::/3");

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
    throw new FetchFailure(error instanceof Error ? error.message : String(error));
  } finally {
    limit.end();
  }
  throw new FetchFailure(`there were more than ${REDIRECTS_MAX} redirects`);
}

/**
 * One response; its text is read only where the status is 200. Of several addresses of the host,
 * the next one is asked if the connection fails.
 */
async function get(url: URL, options: PublicFetch, signal: CancelSignal) {
  const { allowPrivate, addressesOf: find = addressesOf } = options;
  const targets = allowPrivate ? [{ url: url.href, headers: {} }] : await pinned(url, find);
  let failure: unknown = null;
  for (const target of targets) {
    try {
      return await ask(target, options, signal);
    } catch (error) {
      if (!(error instanceof RouteFailure && error.blames === "connection")) throw error;
      failure = error;
    }
  }
  throw failure;
}

type Target = Pick<UpstreamRequest, "url" | "headers" | "serverName">;

async function ask(target: Target, { fetch, bytesMax }: PublicFetch, signal: CancelSignal) {
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

async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * Requests to the addresses of a host, which were checked. Using the name again could lead to
 * another address. Throws if an address of the host is not public.
 */
async function pinned(
  url: URL,
  find: (host: string) => Promise<readonly string[]>,
): Promise<Target[]> {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  const isName = isIP(literal) === 0;
  const addresses = isName ? await find(url.hostname) : [literal];
  if (addresses.length === 0) throw new FetchFailure("its host has no address");
  if (!addresses.every(isPublic)) throw new FetchFailure("its address is not public");
  // The request still names the host, and the server must have a certificate for that name.
  const name = { headers: { host: url.host }, serverName: url.hostname };
  return addresses.map((address) => {
    const target = new URL(url);
    target.hostname = isIP(address) === 6 ? `[${address}]` : address;
    return { url: target.href, ...(isName ? name : { headers: {} }) };
  });
}

/**
 * True if an address is of the public Internet, in any notation. IPv4 inside of IPv6 is never
 * accepted: it may lead to any IPv4 address.
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GIVEN_OUT);
}

function redirected(from: URL, location: string | null): URL {
  const target = location !== null && URL.canParse(location, from.href);
  const url = target ? pageUrl(new URL(location, from.href).href) : null;
  if (url === null) throw new FetchFailure("it redirects to what is no page");
  return url;
}
