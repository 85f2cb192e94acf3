// Tests that the credit of a payment does not depend on the order, the number or the overlap of the
// events that changed it.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { disputePayment, recordPayment, refundPayment } from "../../../src/accounts/payments.ts";
import { nano, usd } from "../../../src/core/money/money.ts";
import { creditOf } from "../../../src/core/money/payment-credit.ts";
import { shared } from "../../support/shared.ts";
import { openPostgresWorld, refusalCode, sumOf } from "../../support/stores/postgres-world.ts";

const books = await shared(openPostgresWorld());

const PROVIDER = "stripe";
const AMOUNT = usd("10");
const PARTS_MAX = 5;

/** Amounts with odd last digits, so that proportions of the bonus have to be rounded. */
const parts = fc.bigInt({ min: 1n, max: AMOUNT / BigInt(PARTS_MAX) }).map((value) => nano(value));
const bonuses = fc.bigInt({ min: 0n, max: usd("3") }).map((value) => nano(value));

test("an operator's refunds, in any order and repeated, take back the same", async () => {
  const property = fc.asyncProperty(
    bonuses,
    fc.array(parts, { minLength: 1, maxLength: PARTS_MAX }),
    fc.infiniteStream(fc.nat()),
    async (bonus, refunds, picks) => {
      const account = await books.account();
      const terms = { amount: AMOUNT, bonus, paidAt: new Date() };
      const { payment } = await recordPayment(books.deps, account.id, terms);
      const make = (index: number) =>
        refundPayment(books.deps, payment.id, {
          amount: refunds[index] ?? AMOUNT,
          reference: `R${index}`,
        });
      const order = [...picks.take(3)].map((pick) => pick % refunds.length);
      for (const index of order) await make(index);
      const all = await Promise.all([...refunds.keys(), ...refunds.keys()].map(make));
      for (const [index, { takenBack }] of all.entries()) {
        expect(takenBack).toBe(refunds[index % refunds.length] ?? AMOUNT);
      }
      const refunded = nano(refunds.reduce((sum, part) => sum + part, 0n));
      expect(sumOf(await books.operations(account))).toBe(creditOf({ ...payment, refunded }));
      expect(await books.operations(account)).toHaveLength(refunds.length + (bonus > 0n ? 2 : 1));
    },
  );
  await fc.assert(property, { numRuns: 20 });
});

/** A provider's state of a payment; every event makes us read the whole state. */
interface Standing {
  readonly refunded: bigint;
  readonly dispute: "open" | "won" | "lost" | null;
  readonly lost: bigint;
}

const standings: fc.Arbitrary<Standing> = fc.record({
  refunded: fc.bigInt({ min: 0n, max: AMOUNT }),
  dispute: fc.constantFrom("open" as const, "won" as const, "lost" as const, null),
  lost: fc.bigInt({ min: 0n, max: AMOUNT }),
});

test("a provider's refunds and dispute, in any order or at once, end in the same", async () => {
  const property = fc.asyncProperty(
    bonuses,
    standings,
    fc.array(fc.constantFrom("refund", "dispute", "payment"), { maxLength: 8 }),
    fc.boolean(),
    async (bonus, { refunded, dispute, lost }, events, atOnce) => {
      const account = await books.account();
      const ref = `pi_${account.id}`;
      const standing = { refunded: nano(refunded), disputed: nano(lost), dispute };
      const paid = () =>
        recordPayment(books.deps, account.id, {
          amount: AMOUNT,
          bonus,
          paidAt: new Date(),
          provider: PROVIDER,
          ref,
        });
      const { payment } = await paid();
      const deliver = async (event: "refund" | "dispute" | "payment") => {
        if (event === "payment") return await paid();
        if (event === "refund") {
          const refund = { target: standing.refunded, actor: PROVIDER };
          return await refundPayment(books.deps, payment.id, refund);
        }
        if (dispute === null) return null;
        const decided = { state: dispute, amount: standing.disputed, actor: PROVIDER };
        return await disputePayment(books.deps, payment.id, decided);
      };
      const all = [...events, "dispute", "refund"] as const;
      if (atOnce) await Promise.all(all.map(deliver));
      else for (const event of all) await deliver(event);
      // A late event of the opening changes nothing once the dispute is decided.
      if (dispute === "won" || dispute === "lost") {
        const open = { state: "open", actor: PROVIDER } as const;
        const opened = disputePayment(books.deps, payment.id, open);
        expect(await refusalCode(opened)).toBe("wrong_state");
      }
      expect(sumOf(await books.operations(account))).toBe(creditOf({ ...payment, ...standing }));
      const { state } = await books.row(account.id);
      expect(state).toBe(dispute === "open" ? "suspended" : "active");
    },
  );
  await fc.assert(property, { numRuns: 30 });
});
