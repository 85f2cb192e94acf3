// Tests a payment that does not fit into the balance: its event ends, and it is booked once there
// is room.

import { expect, test } from "bun:test";
import { AMOUNT_MAX, nano } from "../../../src/core/money/money.ts";
import { auditPayments } from "../../../src/payments/provider-audit.ts";
import { rereadPayments } from "../../../src/payments/reread-payments.ts";
import { shared } from "../../support/shared.ts";
import { openPaymentLab } from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

const lab = await shared(openPaymentLab());

test("a won dispute that does not fit ends its event, and reread books it later", async () => {
  const { actions } = lab.sandbox;
  const account = await lab.account({ free: "0" });
  const { id } = await lab.pay(account, "20");
  await lab.settle();
  const { intent } = await lab.topUp(id);
  const { id: dispute } = actions.dispute(intent ?? "", "needs_response");
  await lab.settle();
  await account.actor.applyOperations();
  await lab.world.flush();
  const large = { amount: nano(AMOUNT_MAX - usd("1")), paidAt: new Date() };
  await lab.world.payments.record(account.row, large);
  await account.actor.applyOperations();
  await lab.world.flush();
  actions.moveDispute(dispute, "won");
  await lab.settle();
  expect(await lab.payments.events.backlog("sandbox")).toMatchObject({ waiting: 0 });
  const results = await lab.world.database.sql`
    SELECT DISTINCT result FROM provider_events WHERE result = 'balance too large'`;
  expect(results).toHaveLength(1);
  expect((await auditPayments(lab.payments)).findings).toMatchObject([{ ref: intent }]);
  const terms = { kind: "adjustment", amount: usd("-100"), reason: "room", reference: null };
  await lab.world.store.adjust(account.row, terms as never);
  await account.actor.applyOperations();
  await lab.world.flush();
  expect(await rereadPayments(lab.payments)).toMatchObject([{ ref: intent, result: "read" }]);
  expect((await auditPayments(lab.payments)).findings).toEqual([]);
});
