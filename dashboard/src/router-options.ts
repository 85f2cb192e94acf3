// The rules by which the routers of both apps read and write addresses.

/** Fields of an address are plain text; those without a value are left out. */
export const ROUTER_OPTIONS = {
  trailingSlash: "never",
  defaultPreload: "intent",
  scrollRestoration: true,
  parseSearch: (text: string) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch(search: Readonly<Record<string, unknown>>) {
    const fields = Object.entries(search).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    const query = new URLSearchParams(fields.map(([name, value]) => [name, String(value)]));
    return query.size === 0 ? "" : `?${query}`;
  },
} as const;
