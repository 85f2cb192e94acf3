import type { VoucherOrder } from "../../../src/accounts/vouchers.ts";
import { usd } from "./world.ts";

const BONUS = { kind: "bonus", amount: usd("3") } as const;

/** An order of a code for $3 of bonus credit, with other terms as far as a test names them. */
export function voucherOrder(batch: string, more: Partial<VoucherOrder> = {}): VoucherOrder {
  return {
    batch,
    gift: BONUS,
    count: 1,
    usesMax: 1,
    tiers: null,
    oncePerPerson: false,
    endsAt: null,
    createdAt: new Date(),
    ...more,
  };
}
