// The identifiers of callers in requests to providers. Each stands in a field that its provider
// declares; a caller's own values are hashed into them and never forwarded (D-652).

import { LRUCache } from "lru-cache";
import { lastingId } from "../../../core/access/end-users.ts";
import { SafetyIds } from "../../../core/access/safety-ids.ts";
import type { IdentifierField, ProviderIdentifiers } from "../models/catalogue.ts";

/** A caller's own values, by the fields in which they came. */
export type GivenIdentifiers = Readonly<Partial<Record<IdentifierField, string>>>;

/** The identifiers of a request to a provider. */
export interface RequestIdentifiers {
  /** The identifiers to send, by the fields of the provider. */
  readonly sent: GivenIdentifiers;
  /** The names of given fields without a counterpart at the provider. */
  readonly ignored: readonly string[];
}

/** The most identifiers, and the most parts of them, that are remembered. */
export const IDENTIFIERS_REMEMBERED_MAX = 8_192;
/** Longer values are hashed again each time, so that callers cannot fill the memory. */
const VALUE_LENGTH_MAX = 256;
const CACHE_KEY = "prompt_cache_key";

/** Makes the identifiers of all requests. Remembers the results of hashing. */
export class CallerIdentifiers {
  readonly #secret: string;
  readonly #makers = new Map<string, SafetyIds>();
  readonly #parts = new LRUCache<string, string>({ max: IDENTIFIERS_REMEMBERED_MAX });
  /** The identifiers of requests without values of the caller. */
  readonly #plain = new LRUCache<string, RequestIdentifiers>({ max: IDENTIFIERS_REMEMBERED_MAX });

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** `given` has the caller's own values; undefined if the caller sent none. */
  of(
    provider: ProviderIdentifiers | undefined,
    account: string,
    given: GivenIdentifiers | undefined,
  ): RequestIdentifiers {
    if (provider === undefined) return { sent: {}, ignored: Object.keys(given ?? {}) };
    if (given !== undefined) return this.#make(provider, account, given);
    const name = `${provider.preset} ${provider.fields.join(" ")} ${account}`;
    const known = this.#plain.get(name);
    if (known !== undefined) return known;
    const made = this.#make(provider, account, {});
    this.#plain.set(name, made);
    return made;
  }

  #make(
    { preset, fields }: ProviderIdentifiers,
    account: string,
    given: GivenIdentifiers,
  ): RequestIdentifiers {
    const { [CACHE_KEY]: key, safety_identifier: id, user } = given;
    const person = id ?? given["metadata.user_id"] ?? user;
    const part = (scope: Scope, value: string) => this.#part(preset, scope, { account, value });
    const sent: Partial<Record<IdentifierField, string>> = {};
    for (const field of fields) {
      if (field !== CACHE_KEY) {
        const own = person === undefined ? "" : `_${part("ownPart", lastingId(person))}`;
        sent[field] = part("accountPart", "") + own;
      } else if (key !== undefined) sent[field] = part("cacheKey", key);
    }
    const namesPeople = fields.some((field) => field !== CACHE_KEY);
    const ignored = Object.keys(given).filter((name) =>
      name === CACHE_KEY ? !fields.includes(CACHE_KEY) : !namesPeople,
    );
    return { sent, ignored };
  }

  #part(preset: string, scope: Scope, { account, value }: Record<"account" | "value", string>) {
    const isKept = value.length <= VALUE_LENGTH_MAX;
    const name = isKept ? `${preset} ${scope} ${account} ${value}` : "";
    const known = isKept ? this.#parts.get(name) : undefined;
    if (known !== undefined) return known;
    const made = this.#makerFor(preset)[scope](account, value);
    if (isKept) this.#parts.set(name, made);
    return made;
  }

  #makerFor(preset: string): SafetyIds {
    const known = this.#makers.get(preset) ?? new SafetyIds(this.#secret, preset);
    this.#makers.set(preset, known);
    return known;
  }
}

type Scope = "accountPart" | "ownPart" | "cacheKey";
