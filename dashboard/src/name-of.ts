// Names for people.

/** The name of a service, a scope or a state for people; unknown ones as they are. */
export function nameOf(names: Readonly<Record<string, string>>, id: string): string {
  return names[id] ?? id;
}
