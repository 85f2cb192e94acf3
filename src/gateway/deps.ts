// What the Gateway's routes are given.

import type { KeyIdentity, RateLimits } from "../../actors/hold.ts";
import type { CallDeps } from "../calls/call.ts";
import type { Mailroom } from "../calls/mailroom.ts";
import type { Catalogue } from "../core/catalogue.ts";
import type { RandomBytes } from "../core/ids.ts";
import type { CallerFacts } from "../http/caller-facts.ts";
import type { ClientIp } from "../http/client-ip.ts";
import type { Switches } from "./chat-request.ts";

/**
 * Finds what a key leads to, by its digest. Throws when it cannot know. `hasTurn` says whether the
 * caller may have a look-up of their own; it is asked only about a key that is not known yet.
 */
export interface KeyDirectory {
  find(digest: string, hasTurn: () => Promise<boolean>): Promise<KeyIdentity | null>;
}

/** Counts the requests of callers without a valid key. */
export interface AnonymousWindow {
  count(caller: string): Promise<RateLimits & { readonly allowed: boolean }>;
}

export interface GatewayDeps {
  readonly calls: CallDeps;
  readonly mail: Mailroom;
  readonly keys: KeyDirectory;
  readonly anonymous: AnonymousWindow;
  readonly catalogue: () => Catalogue;
  readonly switches: Switches;
  readonly random: RandomBytes;
  readonly keyPepper: string;
  readonly clientIp: ClientIp;
  readonly callerFacts: (ip: string) => CallerFacts;
}
