// Keeps documents that are written once for the name or the brand of the service, which can change.

import type { Brand } from "../../core/brand/brand.ts";

export interface NamedDeps {
  readonly catalogue: () => { readonly brand: Brand };
}

/** The name of the service at this moment. */
export function nameIn({ catalogue }: NamedDeps): string {
  return catalogue().brand.name;
}

/**
 * Writes a document when it is first wanted for a name or a brand, and keeps the one of the last.
 */
export function keptFor<Key, Text>(write: (key: Key) => Text): (key: Key) => Text {
  let kept: { readonly key: Key; readonly text: Text } | null = null;
  return (key) => {
    if (kept?.key !== key) kept = { key, text: write(key) };
    return kept.text;
  };
}
