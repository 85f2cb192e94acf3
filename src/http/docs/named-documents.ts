// Keeps documents that are written once for the name of the service, which can change.

import type { Brand } from "../../core/brand/brand.ts";

export interface NamedDeps {
  readonly catalogue: () => { readonly brand: Brand };
}

/** The name of the service at this moment. */
export function nameIn({ catalogue }: NamedDeps): string {
  return catalogue().brand.name;
}

/** Writes a document when it is first wanted under a name, and keeps the one of the last name. */
export function perName<Text>(write: (name: string) => Text): (name: string) => Text {
  let kept: { readonly name: string; readonly text: Text } | null = null;
  return (name) => {
    if (kept?.name !== name) kept = { name, text: write(name) };
    return kept.text;
  };
}
