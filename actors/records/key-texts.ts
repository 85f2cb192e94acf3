// The texts by which the calls of one key describe themselves in the journal. Calls in a row mostly
// have the same text, so it is made once and not for each call.

import { type CallMetadata, metadataText } from "../../src/core/journal/journal.ts";

export interface CallTexts {
  /** CallMetadata by `metadataText`. */
  readonly metadata: string;
  /** Account, key and metadata between tabs. */
  readonly text: string;
}

export class KeyTexts {
  readonly #accountId: string;
  readonly #keyId: string;
  #last: CallMetadata | null = null;
  #texts: CallTexts = { metadata: "", text: "" };

  constructor(accountId: string, keyId: string) {
    this.#accountId = accountId;
    this.#keyId = keyId;
  }

  of(metadata: CallMetadata): CallTexts {
    if (this.#last === null || !areEqual(this.#last, metadata)) {
      const text = metadataText(metadata);
      this.#texts = { metadata: text, text: callText(this.#accountId, this.#keyId, text) };
      this.#last = metadata;
    }
    return this.#texts;
  }
}

/** Account, key and metadata as the scripts take them. */
export function callText(accountId: string, keyId: string, metadata: string): string {
  return `${accountId}\t${keyId}\t${metadata}`;
}

function areEqual(one: CallMetadata, other: CallMetadata): boolean {
  return (
    one.endpoint === other.endpoint &&
    one.service === other.service &&
    one.model === other.model &&
    one.country === other.country &&
    one.ipHash === other.ipHash &&
    one.priceVersion === other.priceVersion &&
    one.marker === other.marker &&
    one.run === other.run &&
    one.step === other.step
  );
}
