// Tests closing an account: not while calls are open or money is owed, and with a message about the
// remaining balance.

import { expect, test } from "bun:test";
import { closeAccount } from "../../../src/accounts/closing.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import {
  administrationOf,
  DONE,
  hold,
  openAccount,
  openWorld,
  pay,
  usd,
  verdict,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());

function close({ row }: TestAccount) {
  return closeAccount({ ...administrationOf(world), wallets: world.accounts }, row.id);
}

async function stateOf({ row }: TestAccount) {
  return (await world.store.find(row.id))?.state;
}

test("an account with an open call is not closed; when the call has ended it is", async () => {
  const account = await openAccount(world, { paid: "10" });
  const open = await hold(account, usd("2"), { freeEligible: false });
  await expect(close(account)).rejects.toThrow("1 open call, with $2 held");
  expect(await stateOf(account)).toBe("active");
  await open.settle(usd("1"), DONE);
  expect(await close(account)).toMatchObject({ applied: true, paidLeft: usd("9") });
  expect(await stateOf(account)).toBe("closed");
  await expect(verdict(account, usd("1"))).rejects.toThrow("wrong or was revoked");
  expect(await close(account)).toMatchObject({ paidLeft: usd("9") });
});

test("an account that owes money is not closed before that is paid or forgiven", async () => {
  const account = await openAccount(world);
  const id = await pay(world, account, usd("10"));
  await account.actor.applyOperations();
  const call = await hold(account, usd("4"), { freeEligible: false });
  await call.settle(usd("4"), DONE);
  const terms = { actor: "operator", reason: "test", reference: null };
  await world.payments.change(id, { terms, decide: ({ amount }) => ({ refunded: amount }) });
  await account.actor.applyOperations();
  await expect(close(account)).rejects.toThrow("owes $4: it can be closed when a top-up has paid");
  const forgiven = { kind: "forgiven", amount: usd("4"), reason: "test", reference: null } as const;
  await world.store.adjust(account.row, forgiven);
  await account.actor.applyOperations();
  expect(await close(account)).toMatchObject({ paidLeft: usd("0") });
});
