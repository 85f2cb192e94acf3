// Vouchers that people redeem for an account of theirs: POST …/vouchers/redeem

import { redeem } from "../../accounts/vouchers.ts";
import { toDecimal } from "../../core/money/money.ts";
import { giftFields } from "../../core/money/voucher-gift.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import { type AccountContext, accountEndpoint } from "../../http/console/console-endpoint.ts";
import { replyWith } from "../../http/console/record-schema.ts";
import { countAttempt } from "../../identity/attempt-limits.ts";
import { noted } from "../noted.ts";
import type { OwnAccountsDeps } from "../people/own-accounts.ts";
import { RedeemedVoucher, VoucherBody, type VoucherFields } from "./billing-schema.ts";

type OwnAccountsContext = AccountContext<OwnAccountsDeps>;

const BODY_BYTES_MAX = 1_024;

export const redeemVoucher = accountEndpoint({
  id: "redeemVoucher",
  method: "POST",
  path: "/console/api/accounts/{account}/vouchers/redeem",
  role: "billing",
  summary: "Redeem a voucher for an account",
  description: "Case, spaces and hyphens of the code do not count. Attempts are limited.",
  body: jsonBody(VoucherBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(RedeemedVoucher, {
    summary: "$5",
    body: { code: "k3vq-7zma-2bcd-efgh-ijkl-mnop" },
  }),
  async run(context: OwnAccountsContext, { code }: VoucherFields) {
    const { deps, account, person, clientIp, request, isLocal } = context;
    const { email } = person;
    await countAttempt(deps.identity, "redeem_voucher", { clientIp, email });
    const { headers } = request;
    const marksFor = deps.identity.voucherMarks(email, { headers, clientIp, isLocal });
    const also = noted(context, "voucher_redeemed", "a voucher");
    const administration = { ...deps.administration, also };
    const by = { actor: person.personId, marksFor };
    const done = await redeem(administration, account.id, { code, by });
    const { gift, isRepeated, applied } = done;
    const { amount, plan } = giftFields(gift);
    const until = done.until?.toISOString() ?? null;
    return {
      amount_usd: amount === null ? null : toDecimal(amount),
      free_until: gift.kind === "free" ? until : null,
      plan,
      plan_until: gift.kind === "plan" ? until : null,
      is_repeated: isRepeated,
      applied,
    };
  },
});
