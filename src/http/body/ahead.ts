// Refuses a call before its body is read: for its key, account, address, scope, tier, window or a
// pause. Small bodies arrive at once, and the account is asked when they are read. Before a large
// body is read, or while a body is slow to come, the account is asked ahead: a refusal then leaves
// the body unread (D-512).

import type { CallTerms } from "../../../actors/account.ts";
import { countAhead } from "../../calls/admission.ts";
import type { Call } from "../../calls/call.ts";
import { SERVICES } from "../../core/access/services.ts";
import { ApiError } from "../../core/errors.ts";
import type { Endpoint } from "../endpoint-info.ts";
import type { FrameDeps } from "../frame.ts";
import { type BodyShare, isLargeBody } from "./body-shares.ts";
import { type BodyRules, declaredLength } from "./read-body.ts";

/** A request whose caller is known. */
interface KnownRequest {
  readonly deps: FrameDeps;
  readonly call: Call;
  readonly request: Request;
}
type Definition = Pick<Endpoint<never>, "service" | "access" | "isBilled">;

/** The rules by which a call's body is read. A class, because every call has one such object. */
export class CallBody implements BodyRules {
  readonly #context: KnownRequest;
  readonly #definition: Definition;
  readonly #isLarge: boolean;
  readonly declared: number | null;
  readonly share: BodyShare;

  constructor(
    context: KnownRequest,
    definition: Definition,
    readonly bytesMax: number,
  ) {
    this.#context = context;
    this.#definition = definition;
    this.declared = declaredLength(context.request);
    this.#isLarge = isLargeBody(this.declared);
    const { accountId, keyId } = context.call.identity;
    const large = this.#isLarge ? { key: keyId, nowMs: this.clock.now() } : null;
    this.share = context.deps.bodies.of(accountId, large);
  }

  get keepsBytes(): boolean {
    return this.#context.deps.parser !== undefined;
  }

  get clock() {
    return this.#context.deps.calls.clock;
  }

  /**
   * True if the account is asked before the body is read. A body over the limit is refused anyway.
   */
  get isAskedAhead(): boolean {
    if (this.#isLarge) return (this.declared ?? 0) <= this.bytesMax;
    const { deps, call } = this.#context;
    return deps.calls.accounts.refusesUnread(call.identity.keyId);
  }

  /** The body is slow to come. */
  onSlow(): Promise<void> {
    return checkAhead(this.#context, this.#definition);
  }
}

/** Counts a call and throws a refusal that does not depend on its body; once for each call. */
export async function checkAhead(context: KnownRequest, definition: Definition): Promise<void> {
  const { deps, call } = context;
  if (call.ahead !== null) return;
  checkPauses(deps, definition);
  await countAhead(deps.calls, call, serviceTerms(definition));
}

/** Throws the refusal of a call that costs money, while its service is paused. */
export function checkPauses({ pauses }: FrameDeps, { service, isBilled }: Definition): void {
  if (service === null || !isBilled || !pauses.isPaused(service)) return;
  const { title, unavailable } = SERVICES[service];
  throw new ApiError(unavailable, `${title} is paused`);
}

/** The scope that the key must have, and the service's name in the log. */
export function serviceTerms({
  service,
  access,
}: Pick<Definition, "service" | "access">): Pick<CallTerms, "scope" | "service"> {
  if (service === null) return { scope: null, service: "account" };
  const { scope } = SERVICES[service];
  return { scope: access === "scope" ? scope : null, service: scope };
}
