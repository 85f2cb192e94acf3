/** An error as Stripe's API shows it. */
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

/** Says that what was asked for cannot be done now. */
export function refusal(message: string): SandboxRefusal {
  return new SandboxRefusal({ type: "invalid_request_error", message });
}
