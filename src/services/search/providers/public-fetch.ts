// Fetches pages of the web for the index: bounded, in time, and never from this machine or the
// network it stands in, unless the operator allows that.

import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
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
}

export interface Fetched {
  readonly url: URL;
  readonly type: string;
  readonly text: string;
}

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const notPublic = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  notPublic.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of [
  ["::", 127],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  notPublic.addSubnet(network, bits, "ipv6");
}

/** The text behind a URL. Each redirect is followed by the same rules. Throws a FetchFailure. */
export async function fetchPublic(start: URL, options: PublicFetch): Promise<Fetched> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  let url = start;
  try {
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      if (!options.allowPrivate) await checkPublic(url);
      const response = await options.fetch(url.href, { redirect: "manual", signal });
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

/** Throws for a host with an address that is not public. */
async function checkPublic({ hostname }: URL): Promise<void> {
  const literal = hostname.replace(/^\[|\]$/g, "");
  const addresses =
    isIP(literal) === 0
      ? (await lookup(hostname, { all: true })).map(({ address }) => address)
      : [literal];
  if (addresses.some((address) => !isPublic(address))) {
    throw new FetchFailure("its address is not public");
  }
}

/** Whether an address is one of the public Internet; IPv4 written as IPv6 is the same address. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !notPublic.check(address, family === 4 ? "ipv4" : "ipv6");
}

function redirected(from: URL, location: string | null): URL {
  const target = location !== null && URL.canParse(location, from.href);
  const url = target ? pageUrl(new URL(location, from.href).href) : null;
  if (url === null) throw new FetchFailure("it redirects to what is no page");
  return url;
}
