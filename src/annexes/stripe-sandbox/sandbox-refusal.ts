/** Describes an error in the form of Stripe's API. */
export interface StripeErrorFields {
  readonly type: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** A request that Stripe would refuse. */
export class SandboxRefusal extends Error {
  constructor(
    readonly error: StripeErrorFields,
    readonly isMissing = false,
  ) {
    super(error.message);
  }
}

/** Makes the refusal of a request that cannot be done now, with the code that Stripe has for it. */
export function refusal(message: string, code?: string): SandboxRefusal {
  const known = code === undefined ? {} : { code };
  return new SandboxRefusal({ type: "invalid_request_error", ...known, message });
}
