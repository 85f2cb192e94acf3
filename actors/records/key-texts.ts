// The texts by which the calls of one key describe themselves in the journal. Calls in a row mostly
// have the same text, so it is made once and not for each call.

import { type CallMetadata, metadataText } from "../../src/core/journal/journal.ts";
import type { AskingCall, CallTerms } from "../account.ts";

export interface CallTexts {
  /** CallMetadata by `metadataText`. */
  readonly metadata: string;
  /** Account, key and metadata between tabs. */
  readonly text: string;
}

/** A call, and the marker that it claims if it has an idempotency key. */
interface DescribedCall {
  readonly call: Omit<AskingCall, "ahead">;
  readonly terms: Pick<CallTerms, "service" | "model" | "priceVersion">;
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

  /** The texts of a call that claims this marker, and that budgets count for this end user. */
  of(asking: DescribedCall, marker: string | undefined, endUser?: string): CallTexts {
    const last = this.#last;
    if (last === null || last.endUser !== endUser || !describes(last, asking, marker)) {
      this.#last = { ...metadataOf(asking, marker), endUser };
      const metadata = metadataText(this.#last);
      this.#texts = { metadata, text: callText(this.#accountId, this.#keyId, metadata) };
    }
    return this.#texts;
  }
}

/** Account, key and metadata as the scripts take them. */
export function callText(accountId: string, keyId: string, metadata: string): string {
  return `${accountId}\t${keyId}\t${metadata}`;
}

function metadataOf({ call, terms }: DescribedCall, marker: string | undefined): CallMetadata {
  const { endpoint, country, ipHash, run } = call;
  const { service, model, priceVersion = null } = terms;
  const { id, step } = run ?? { id: undefined, step: undefined };
  const base = { endpoint, service, model, country, ipHash, priceVersion, marker };
  return { ...base, run: id, step, askedModel: askedModelOf(call, terms) };
}

/** Leaves the name out for a search: the searches of a model are admitted with the model's call. */
function askedModelOf(
  { askedModel }: DescribedCall["call"],
  { service }: DescribedCall["terms"],
): string | undefined {
  return service === "models" ? askedModel : undefined;
}

/**
 * True if this is the metadata of the call. The comparison is made field by field, because every
 * call makes it.
 */
function describes(
  known: CallMetadata,
  { call, terms }: DescribedCall,
  marker: string | undefined,
): boolean {
  return (
    known.endpoint === call.endpoint &&
    known.service === terms.service &&
    known.model === terms.model &&
    known.country === call.country &&
    known.ipHash === call.ipHash &&
    known.priceVersion === (terms.priceVersion ?? null) &&
    known.marker === marker &&
    known.run === call.run?.id &&
    known.step === call.run?.step &&
    known.askedModel === askedModelOf(call, terms)
  );
}
