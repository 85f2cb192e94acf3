// The names under which payments of providers are stored, by the kind of the provider.

interface PaymentNameRow {
  /** False if every payment is a test: no card is charged, and no money arrives. */
  readonly movesMoney: boolean;
}

/**
 * Each kind of provider with its names. The sandbox is of Stripe's kind and has a name of its own.
 * A kind also has a row of `PROVIDERS` (src/payments/providers.ts).
 */
export const PAYMENT_NAMES = {
  stripe: { stripe: { movesMoney: true }, sandbox: { movesMoney: false } },
} as const satisfies Record<string, Record<string, PaymentNameRow>>;

type Names = typeof PAYMENT_NAMES;
export type ProviderKind = keyof Names;
export type ProviderName = { [Kind in ProviderKind]: keyof Names[Kind] }[ProviderKind];

const ROWS = Object.assign({}, ...Object.values(PAYMENT_NAMES)) as Readonly<
  Record<ProviderName, PaymentNameRow>
>;

export const PROVIDER_NAMES = Object.keys(ROWS) as readonly ProviderName[];

/** True if payments under this name are paid with real money. */
export function movesMoney(name: ProviderName): boolean {
  return ROWS[name].movesMoney;
}
