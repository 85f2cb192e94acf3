// Answers with pages and files that anybody may read and caches may keep, made from the brand and
// the catalogue. A cache asks whether its copy is still right, so a change shows at once.

/** The text of a page or a file, and its mark for caches. */
export interface PublicText {
  readonly text: string;
  readonly etag: string;
}

const NOT_MODIFIED = 304;
const SEE_OTHER = 303;
const NO_FURTHER = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];

/** A text with the mark that follows from it. */
export function publicText(text: string): PublicText {
  return { text, etag: `"${Bun.hash(text).toString(36)}"` };
}

/** A content security policy that allows only the given sources. */
export function policyOf(...allowed: readonly string[]): string {
  const named = new Set(allowed.map(directiveOf));
  const further = NO_FURTHER.filter((one) => !named.has(directiveOf(one)));
  return ["default-src 'none'", ...allowed, ...further].join("; ");
}

function directiveOf(rule: string): string {
  return rule.split(" ")[0] ?? rule;
}

/** The text with these headers; 304 to a cache whose copy is the same text. */
export function publicAnswer(
  { text, etag }: PublicText,
  request: Request,
  headers: Readonly<Record<string, string>>,
): Response {
  const all = {
    "cache-control": "public, no-cache",
    "x-content-type-options": "nosniff",
    etag,
    ...headers,
  };
  const known = request.headers.get("if-none-match") ?? "";
  const isKnown = known.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
  return isKnown
    ? new Response(null, { status: NOT_MODIFIED, headers: all })
    : new Response(text, { headers: all });
}

/** Leads a browser to another address, this once. */
export function seeOther(location: string): Response {
  const headers = {
    location,
    "cache-control": "no-store",
    vary: "accept",
    "x-content-type-options": "nosniff",
  };
  return new Response(null, { status: SEE_OTHER, headers });
}
