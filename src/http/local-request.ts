// Tells if a request was sent on this machine itself. A proxy or a tunnel here forwards the
// requests of strangers from an address of this machine, so the address alone does not show it.

import { isLoopback } from "../core/loopback.ts";
import { normalizeIp } from "./client-ip.ts";

/** Headers that proxies, tunnels and content networks add, each under its own names. */
const FORWARDING = [
  /forward|proxy|proxied/,
  /(?:client|connecting|originating|real|remote|source|src|user)-?(?:ip|addr)/,
  /^(?:x-)?(?:akamai|cdn|cloudfront|fastly|fly|ngrok|railway|tailscale|tunnel|varnish|via)(?:-|$)/,
  /^(?:cf|front-end|rndr)-/,
  /^x-(?:amzn?|appengine|arr|azure|cloud-trace|cluster-client|envoy|nf|original|vercel)-/,
  /^x-(?:host|scheme|url-scheme|real-port|request-start|rewrite-url)$/,
];

/** True if a header shows that the request was forwarded. */
export function isForwarded(headers: Headers): boolean {
  return [...headers.keys()].some((name) => FORWARDING.some((form) => form.test(name)));
}

/**
 * True for a request from an address of this machine, to a name of this machine, without a sign of
 * forwarding. Conveniences of development are only for these requests (D-550).
 */
export function isLocalRequest(peer: string, headers: Headers): boolean {
  const host = headers.get("host")?.replace(/:\d*$/, "") ?? "";
  return isLoopback(normalizeIp(peer)) && isLoopback(host) && !isForwarded(headers);
}

/**
 * True for such a request that a browser sent. Browsers keep their connection, and announce that in
 * a header. A proxy that adds no header of its own, and names this machine as the host, sends the
 * header of its own connection instead: nginx with its default settings announces `close`, other
 * proxies nothing (D-550).
 */
export function isLocalPage(peer: string, headers: Headers): boolean {
  const isKept = headers.get("connection")?.toLowerCase() === "keep-alive";
  return isKept && isLocalRequest(peer, headers);
}
