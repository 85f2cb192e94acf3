// Names for people.

/** The name of a service, a scope or a state for people; unknown ones as they are. */
export function nameOf(names: Readonly<Record<string, string>>, id: string): string {
  return names[id] ?? id;
}

/** The name of a key by its id; `all` for null, which stands for all keys. */
export function keyNameOf(
  keys: readonly { readonly id: string; readonly name: string }[],
  key: string | null,
  all: string,
): string {
  return key === null ? all : (keys.find(({ id }) => id === key)?.name ?? key);
}
