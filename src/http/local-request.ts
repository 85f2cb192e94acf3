// Whether a request was sent on this machine itself. A proxy or a tunnel here hands on the requests
// of strangers from an address of this machine, so the address alone does not tell.

import { isLoopback } from "../core/loopback.ts";
import { normalizeIp } from "./client-ip.ts";

/** Headers that proxies, tunnels and content networks add, each under names of its own. */
const FORWARDING = [
  /^(?:forwarded|via|cdn-loop|(?:true-)?client-ip|x-(?:real|remote|proxyuser|client)-(?:ip|addr))$/,
  /^x-(?:forwarded|original|cluster-client|envoy|amzn|azure|appengine|vercel|nf)-/,
  /^(?:cf|fastly|fly)-/,
];

/** True if a header says that somebody handed the request on. */
export function isForwarded(headers: Headers): boolean {
  return [...headers.keys()].some((name) => FORWARDING.some((form) => form.test(name)));
}

/**
 * True for a request from an address of this machine, to a name of this machine, that nobody says
 * to have handed on. Conveniences of development are for these alone (D-550).
 */
export function isLocalRequest(peer: string, headers: Headers): boolean {
  const host = headers.get("host")?.replace(/:\d*$/, "") ?? "";
  return isLoopback(normalizeIp(peer)) && isLoopback(host) && !isForwarded(headers);
}
