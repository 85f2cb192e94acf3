// Tests a plan's charge whose answer is lost.

import { expect, setDefaultTimeout, test } from "bun:test";
import { orderPlan } from "../../../src/payments/plans.ts";
import {
  chargesOf,
  openPlanLab,
  prove,
  stateOf,
  subscriber,
  work,
} from "../../support/stores/plan-lab.ts";

setDefaultTimeout(300_000);

test("a charge without an answer is repeated by its key, and paid once", async () => {
  const lost = { isOn: false };
  await using lab = await openPlanLab({
    intercept: async (request, answer) => {
      if (!(lost.isOn && request.method === "POST")) return null;
      answer();
      return Response.json({ error: { type: "api_error", message: "lost" } }, { status: 502 });
    },
  });
  const account = await subscriber(lab);
  const order = { plan: "pro", cardId: null } as const;
  lost.isOn = true;
  expect(orderPlan(lab.payments, account.row, order)).rejects.toThrow("did not answer");
  await lab.delivered();
  expect(orderPlan(lab.payments, account.row, order)).rejects.toThrow("still under way");
  lost.isOn = false;
  lab.aheadMs += 61_000;
  await work(lab);
  expect((await chargesOf(lab, account)).map(({ status }) => status)).toEqual(["succeeded"]);
  expect((await stateOf(lab, account)).plan).toBe("pro");
  await prove(lab, [account]);
});
