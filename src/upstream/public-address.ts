// Finds the addresses of a host that others chose, and checks that each is of the public Internet.
// A request then goes to the checked address itself: the name could lead to another one later.

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { RouteFailure } from "./route-failure.ts";
import type { UpstreamRequest } from "./upstream-http.ts";

/** A host must get no request; the message says why, and does not name it. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

/** Looks up all addresses of a host. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** One request to a checked address; it still names the host. */
export type PinnedTarget = Pick<UpstreamRequest, "url" | "headers" | "serverName">;

/** The part of IPv6 that is allocated for public use so far. */
const GIVEN_OUT = ipaddr.IPv6.parseCIDR("2000::/3");

/** Public by their range, but served by the host of a virtual machine itself, as Azure does. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** The addresses of a host by this machine's resolver. */
const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

export interface AddressRules {
  /** If true, the host may be this machine or one in its network, and is not looked up here. */
  readonly allowPrivate: boolean;
  readonly resolve?: Resolve | undefined;
}

/**
 * Sends a request to the host of a URL, at an address that was checked. The next address of the
 * host is asked if the connection fails, before anything was sent.
 * @throws AddressRefused if any address of the host is not public; whatever `ask` throws
 */
export async function askPublic<T>(
  url: URL,
  rules: AddressRules,
  ask: (target: PinnedTarget) => Promise<T>,
): Promise<T> {
  let failure: unknown = null;
  for (const target of await targetsOf(url, rules)) {
    try {
      return await ask(target);
    } catch (error) {
      if (!(error instanceof RouteFailure && error.blames === "connection")) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function targetsOf(
  url: URL,
  { allowPrivate, resolve = resolveHost }: AddressRules,
): Promise<readonly PinnedTarget[]> {
  if (allowPrivate) return [{ url: url.href, headers: {} }];
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  const isName = isIP(literal) === 0;
  const addresses = isName ? await resolve(url.hostname) : [literal];
  if (addresses.length === 0) throw new AddressRefused("its host has no address");
  if (!addresses.every(isPublic)) throw new AddressRefused("its address is not public");
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
  if (isIP(address) === 0 || OF_THE_MACHINE.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GIVEN_OUT);
}
