// Decides whether an address of a caller may be forwarded to a provider that fetches it. Farebox
// fetches none itself. A provider's own cloud must not be sent to a host inside a network (D-644).

const ADDRESS_LENGTH_MAX = 2_048;

/** Ends of names that only a network itself knows, or that RFC 6761 and RFC 2606 set aside. */
const PRIVATE_ENDS: ReadonlySet<string> = new Set([
  "alt",
  "arpa",
  "corp",
  "domain",
  "example",
  "home",
  "host",
  "internal",
  "intranet",
  "invalid",
  "lan",
  "local",
  "localdomain",
  "localhost",
  "onion",
  "private",
  "test",
  "workgroup",
]);

const HOST_NAME =
  /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;
/** Parsers differ about these: some drop them, some end the host there. */
const AMBIGUOUS = /[\s\\]|\p{Cc}/u;

/**
 * The address in the one form that all parsers read alike, or the rule that it breaks: "must ...".
 * The rule names the forms that the field may have instead of an address: "be a data URL, or ".
 */
export function publicAddress(
  text: string,
  instead = "",
): { readonly href: string } | { readonly rule: string } {
  if (text.length > ADDRESS_LENGTH_MAX) {
    return { rule: `must be an address of at most ${ADDRESS_LENGTH_MAX} characters` };
  }
  const url = AMBIGUOUS.test(text) ? null : URL.parse(text);
  if (url === null) return { rule: `must ${instead}be an address such as https://…` };
  if (url.protocol !== "https:") return { rule: `must ${instead}begin with https://` };
  if (url.username !== "" || url.password !== "") return { rule: "must not have credentials" };
  if (url.port !== "") return { rule: "must not name a port" };
  // URL has turned every notation of an IPv4 address into four numbers.
  if (!HOST_NAME.test(url.hostname)) return { rule: "must name a public host, and no IP address" };
  const end = url.hostname.slice(url.hostname.lastIndexOf(".") + 1);
  if (PRIVATE_ENDS.has(end)) return { rule: "must name a host of the public internet" };
  return { href: url.href };
}
