// Fetches pages of the web for the index: bounded, in time, and never from this machine or the
// network it stands in, unless the operator allows that.

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type Fetch, readText } from "../../../upstream/upstream-http.ts";
import { pageUrl } from "./clean-result.ts";

/** A page that was not had; the message is for the operator. */
export class FetchFailure extends Error {
  override readonly name = "FetchFailure";
}

export interface PublicFetch {
  readonly fetch: Fetch;
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly allowPrivate: boolean;
  /** All addresses of a host; that of this machine unless given. */
  readonly addressesOf?: (host: string) => Promise<readonly string[]>;
}

export interface Fetched {
  readonly url: URL;
  readonly type: string;
  readonly text: string;
}

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** What the Internet has given out of IPv6 so far. */
const GIVEN_OUT = ipaddr.IPv6.parseCIDR("2000::/3");

/** The text behind a URL. Each redirect is followed by the same rules. Throws a FetchFailure. */
export async function fetchPublic(start: URL, options: PublicFetch): Promise<Fetched> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  let url = start;
  try {
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      const request = options.allowPrivate
        ? { href: url.href, init: {} }
        : await pinned(url, options.addressesOf ?? addressesOf);
      const { href, init } = request;
      const response = await options.fetch(href, { redirect: "manual", signal, ...init });
      const { status, headers } = response;
      if (status === 200) {
        const text = await readText(response, options.bytesMax);
        return { url, type: headers.get("content-type") ?? "", text };
      }
      await response.body?.cancel();
      if (!REDIRECTS.has(status)) throw new FetchFailure(`the server answered ${status}`);
      url = redirected(url, headers.get("location"));
    }
  } catch (error) {
    if (error instanceof FetchFailure) throw error;
    throw new FetchFailure(error instanceof Error ? error.message : String(error));
  }
  throw new FetchFailure(`there were more than ${REDIRECTS_MAX} redirects`);
}

async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * A request to an address that was looked at, and not to whatever the name stands for a moment
 * later. Throws for a host with an address that is not public.
 */
async function pinned(url: URL, find: (host: string) => Promise<readonly string[]>) {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(literal) === 0 ? await find(url.hostname) : [literal];
  const [address] = addresses;
  if (address === undefined) throw new FetchFailure("its host has no address");
  if (!addresses.every(isPublic)) throw new FetchFailure("its address is not public");
  const target = new URL(url);
  target.hostname = isIP(address) === 6 ? `[${address}]` : address;
  // The server is asked for the name, and must prove that it is that name's.
  const init = { headers: { host: url.host }, tls: { servername: url.hostname } };
  return { href: target.href, init: isIP(literal) === 0 ? init : {} };
}

/**
 * Whether an address is one of the public Internet, whichever way it is written. IPv4 inside of
 * IPv6 is never one: it may lead to any IPv4 address.
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
