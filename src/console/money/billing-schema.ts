// Defines the bodies of changes of an account's money.

import { ApiError } from "../../core/errors.ts";
import { PRICED_PLANS } from "../../core/money/plan-terms.ts";
import { flag, nullable, time, usdField, type WireOf, word } from "../../core/records.ts";
import { FORM_FIELDS } from "../../core/text/form-fields.ts";
import { requestId, usdSchema } from "../../http/console/fields.ts";
import { type Checked, optional, Type, text } from "../../http/schema.ts";
import { APPLIED } from "../applied.ts";

export const RequestId = requestId(
  "The page's own id of this order: the same one never makes two top-ups",
);

export const CheckoutBody = Type.Object(
  {
    amount_usd: usdSchema("What is to be credited"),
    save_card: Type.Optional(Type.Boolean()),
    request: Type.Optional(RequestId),
  },
  { additionalProperties: false },
);
export type CheckoutFields = Checked<typeof CheckoutBody>;

export const ChargeBody = Type.Object(
  {
    amount_usd: usdSchema("What is to be credited"),
    card: optional(text({ description: "The id of a saved card; the newest if missing" })),
    request: RequestId,
  },
  { additionalProperties: false },
);
export type ChargeFields = Checked<typeof ChargeBody>;

export const VoucherBody = Type.Object(
  {
    code: text({
      pattern: `^[^\\u0000-\\u001f]{1,${FORM_FIELDS.voucher.charactersMax}}$`,
      must: "must be the code of a voucher",
      description: "As it was given or typed",
    }),
  },
  { additionalProperties: false },
);
export type VoucherFields = Checked<typeof VoucherBody>;

export const RedeemedVoucher = {
  amount_usd: nullable(
    usdField({ about: "The credit of the voucher; null for a plan", sample: "5" }),
  ),
  free_until: nullable(
    time({ about: "When it ends, for free credit", sample: "2027-02-20T00:00:00.000Z" }),
    { sample: null },
  ),
  plan: nullable(
    word(PRICED_PLANS, { about: "The plan that it gave; null for credit", sample: "pro" }),
    { sample: null },
  ),
  plan_until: nullable(time({ about: "When that plan ends", sample: "2027-02-20T00:00:00.000Z" }), {
    sample: null,
  }),
  is_repeated: flag({
    about: "Whether the account had redeemed it before, and got nothing now",
    sample: false,
  }),
  applied: APPLIED,
};
export type RedeemedVoucherReply = WireOf<typeof RedeemedVoucher>;

export const AutoBody = Type.Object(
  {
    amount_usd: usdSchema("What each one credits"),
    threshold_usd: usdSchema("Below this balance it tops up"),
    monthly_cap_usd: usdSchema("At most this in a UTC month"),
    card: optional(text()),
    consent_version: text({ description: "The version of the text that the person agreed to" }),
  },
  { additionalProperties: false },
);
export type AutoFields = Checked<typeof AutoBody>;

/**
 * Requires that the person agreed to the text of a consent that counts now.
 * @throws ApiError
 */
export function checkConsent(
  { consent_version: version }: Pick<AutoFields, "consent_version">,
  current: string,
): void {
  if (version === current) return;
  throw new ApiError(
    "invalid_parameter",
    `consent_version must be '${current}', the version of the text that counts now, but is ` +
      `'${version}'`,
    { param: "consent_version" },
  );
}
