import { recordPayment } from "../accounts/administration.ts";
import { toJsonNumber } from "../core/money.ts";
import { type Command, UsageError } from "./command.ts";
import { dollars, utc } from "./print.ts";
import { idOf, positiveAmountOf, timeOf } from "./values.ts";

const record: Command = {
  name: "payment record",
  words: ["ID"],
  summary: "Credit a payment that came by other means; it counts for the tier",
  options: {
    usd: { value: "N", help: "the amount, to nine decimals", required: true },
    at: { value: "ISO-TIME", help: "when it came, in UTC unless it says else (now)" },
  },
  plan(input) {
    const account = idOf(input, "account");
    const amount = positiveAmountOf(input, "usd");
    const paidAt = timeOf(input, "at") ?? new Date(input.nowMs);
    if (paidAt.getTime() > input.nowMs) {
      throw new UsageError(`--at must not lie in the future, but is ${utc(paidAt)}`);
    }
    return async ({ administration }) => {
      const { id, applied } = await recordPayment(administration, account, { amount, paidAt });
      return {
        json: { id, account, amount_usd: toJsonNumber(amount), paid_at: paidAt, applied },
        text: `Payment ${id}: ${dollars(amount)} of ${utc(paidAt)} for ${account}.`,
      };
    };
  },
};

export const paymentCommands: readonly Command[] = [record];
