// Tests `farebox topup charge` while the provider charges and does not answer.

import { expect, test } from "bun:test";
import type { ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { completePayments } from "../../../workers/payment-completer.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import {
  openPaymentLab,
  payer,
  SECRET_KEY,
  WEBHOOK_SECRET,
} from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

const lost = { isOn: false };

const lab = await shared(
  openPaymentLab({
    intercept: async (request, answer) => {
      if (!(lost.isOn && isCharge(request))) return null;
      answer();
      return Response.json({ error: { type: "api_error", message: "lost" } }, { status: 502 });
    },
  }),
);

function isCharge({ method, path }: ApiRequest): boolean {
  return method === "POST" && path === "/v1/payment_intents";
}

test("the command names a charge that is still open, so that it is not ordered again", async () => {
  const account = await payer(lab);
  const env = {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_RETURN_URL: "https://farebox.example/",
    STRIPE_API_BASE: lab.sandbox.url,
  };
  const cli = await cliOf(lab.world, env);
  lost.isOn = true;
  const answer = await cli("topup", "charge", account.row.id, "--usd", "10", "--json");
  lost.isOn = false;
  const { id, status } = jsonOf(answer);
  expect(status).toBe("open");
  expect(answer.err).toContain("waits for the payment provider");
  lab.aheadMs += 61_000;
  await completePayments({ payments: lab.payments, graceMs: 0, log: silent });
  await lab.settle();
  expect(await lab.topUp(id)).toMatchObject({ status: "succeeded" });
  expect(await lab.credited(account)).toBe(usd("30"));
});
