// The last part of a path where it may have slashes: the id of a model, such as `qwen/qwen3`, which
// clients send as it is or percent-encoded.

/** The path of a URL; with a strange Host a URL is only a path, which no URL parser takes. */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** What a URL has in place of the open part that ends this template. */
export function openEndOf(template: string, url: string): string {
  const end = pathOf(url).slice(template.indexOf("{"));
  try {
    return decodeURIComponent(end);
  } catch {
    // No percent-encoding: then it is what it is.
    return end;
  }
}
