// Determines the address that a request comes from. A forwarded address counts only if a trusted
// proxy wrote it.

import { type BlockList, isIP } from "node:net";
import { allowlist, isListed } from "../core/access/access.ts";
import { isLoopback } from "../core/loopback.ts";

/** Finds the client's address from the socket's peer and the request's headers. */
export type ClientIp = (peer: string, headers: Headers) => string;

const MAPPED_V4 = "::ffff:";

/** Headers that proxies add: almost every proxy adds at least one of them. */
const BY_PROXIES = ["x-forwarded-for", "forwarded", "x-real-ip"] as const;

/**
 * `trustedProxies` are addresses and CIDR blocks; a bad entry is a RangeError. The first request
 * that came through a proxy on this machine that is not among them is reported, once.
 */
export function createClientIp(
  trustedProxies: readonly string[],
  onUntrustedProxy: (address: string) => void = () => {},
): ClientIp {
  const trusted = allowlist(trustedProxies);
  let isReported = false;
  const noticeProxy = (client: string, headers: Headers) => {
    if (!isLoopback(client) || !BY_PROXIES.some((name) => headers.has(name))) return;
    isReported = true;
    onUntrustedProxy(client);
  };
  // Remembers the last peer: behind a proxy all requests have the same one, and looking a peer up
  // takes a microsecond.
  let lastPeer = "";
  let lastClient = "";
  let isLastTrusted = false;
  return (peer, headers) => {
    if (peer !== lastPeer) {
      lastPeer = peer;
      lastClient = normalizeIp(peer);
      isLastTrusted = isListed(trusted, lastClient);
    }
    if (!isReported && !isLastTrusted) noticeProxy(lastClient, headers);
    return isLastTrusted ? clientBehind(trusted, lastClient, headers) : lastClient;
  };
}

/** The right-most address of the header that is not a trusted proxy's. */
function clientBehind(trusted: BlockList, proxy: string, headers: Headers): string {
  let client = proxy;
  // All lines of the header arrive joined by commas; the right-most hop was added last.
  const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
  for (let hop = hops.pop(); hop !== undefined; hop = hops.pop()) {
    const next = normalizeIp(withoutPort(hop.trim()));
    // Hops to the left of an invalid address cannot be trusted.
    if (isIP(next) === 0) break;
    client = next;
    if (hops.length > 0 && !isListed(trusted, client)) break;
  }
  return client;
}

/**
 * Returns the address in a single spelling: IPv4 written as IPv6 becomes IPv4, a zone is removed.
 */
export function normalizeIp(ip: string): string {
  const zone = ip.indexOf("%");
  const address = (zone < 0 ? ip : ip.slice(0, zone)).toLowerCase();
  if (!address.startsWith(MAPPED_V4)) return address;
  const rest = address.slice(MAPPED_V4.length);
  if (isIP(rest) === 4) return rest;
  if (isIP(address) === 0) return address;
  const [high = "0", low = "0"] = rest.includes(":") ? rest.split(":") : ["0", rest];
  const value = (Number.parseInt(high, 16) << 16) | Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
}

/**
 * Returns the address that stands for one caller: an IPv4 address, or the /64 network of an IPv6
 * address.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(":")) return ip;
  const [head = "", tail = ""] = ip.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const missing = ip.includes("::") ? 8 - left.length - right.length : 0;
  const groups = [...left, ...Array<string>(Math.max(0, missing)).fill("0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}

function withoutPort(hop: string): string {
  if (hop.startsWith("[")) return hop.slice(1, hop.indexOf("]"));
  const colon = hop.indexOf(":");
  return colon >= 0 && colon === hop.lastIndexOf(":") ? hop.slice(0, colon) : hop;
}
