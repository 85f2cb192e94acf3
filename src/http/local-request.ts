// Whether a request was sent on this machine itself. A proxy or a tunnel here hands on the requests
// of strangers from an address of this machine, so the address alone does not tell.

import { isLoopback } from "../core/loopback.ts";
import { normalizeIp } from "./client-ip.ts";

/** Headers that proxies, tunnels and content networks add, each under names of its own. */
const FORWARDING = [
  /forward|proxy|proxied/,
  /(?:client|connecting|originating|real|remote|source|src|user)-?(?:ip|addr)/,
  /^(?:x-)?(?:akamai|cdn|cloudfront|fastly|fly|ngrok|railway|tailscale|tunnel|varnish|via)(?:-|$)/,
  /^(?:cf|front-end|rndr)-/,
  /^x-(?:amzn?|appengine|arr|azure|cloud-trace|cluster-client|envoy|nf|original|vercel)-/,
  /^x-(?:host|scheme|url-scheme|real-port|request-start|rewrite-url)$/,
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

/**
 * The same for what browsers ask. They keep their connection and say so. A proxy that adds no
 * header of its own, and names this machine as the host, says this of its own connection: nginx, as
 * it is installed, closes it, and others say nothing (D-609).
 */
export function isLocalPage(peer: string, headers: Headers): boolean {
  const isKept = headers.get("connection")?.toLowerCase() === "keep-alive";
  return isKept && isLocalRequest(peer, headers);
}
