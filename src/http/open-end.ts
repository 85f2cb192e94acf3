// Reads the last part of a path, if it may contain slashes: a model id such as `qwen/qwen3`, which
// clients send plain or percent-encoded.

/** The path of a URL. With a malformed Host, the URL is only a path, which URL parsers reject. */
export function pathOfUrl(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** The part of a URL that matches the open end of this template. */
export function openEndOf(template: string, url: string): string {
  const end = pathOfUrl(url).slice(template.indexOf("{"));
  try {
    return decodeURIComponent(end);
  } catch {
    // The percent-encoding is invalid: the text is taken literally.
    return end;
  }
}
