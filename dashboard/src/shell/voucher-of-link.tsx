// Offers the voucher of a link. Loaded only with a voucher, which few visits have.

import { Modal } from "@mantine/core";
import { mayAct } from "../../../src/core/access/roles.ts";
import { forgetVoucher } from "../kept-voucher.ts";
import { RedeemVoucher } from "../pages/money/redeem-voucher.tsx";
import type { Account } from "../session.tsx";
import { t } from "../texts.ts";

interface VoucherOfLinkProps {
  readonly account: Account;
  readonly code: string;
}

export function VoucherOfLink({ account: { id, role }, code }: VoucherOfLinkProps) {
  if (mayAct(role, "billing")) {
    return <RedeemVoucher account={id} code={code} close={forgetVoucher} />;
  }
  return (
    <Modal opened onClose={forgetVoucher} title={t.billing.voucher.title} size="sm">
      <p className="small">{t.billing.forbidden(role)}</p>
    </Modal>
  );
}
