// Tests the budgets of end users on the page of limits in a real browser: set for each one and for
// a single one, and shown for one whom somebody names.

import { describe, expect, test } from "bun:test";
import { createKey } from "../../../src/accounts/administration.ts";
import { adjustBalance } from "../../../src/accounts/payments.ts";
import { usd } from "../../../src/core/money/money.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, ...stage } = await sharedStage();

describe.skipIf(!canRun)("the end users of an account", () => {
  test("get budgets on the page, which shows the spending of one", async () => {
    const { visitor: ada, account } = await stage.person("ada@example.com");
    const { administration } = stage.running.product.operator;
    const { key } = await createKey(administration, account, {
      name: "shop",
      scopes: ["models"],
      ipAllowlist: [],
      monthlyLimit: null,
    });
    const credit = { amount: usd("1"), reason: "a test", reference: null };
    await adjustBalance(administration, account, credit);
    const call = async (user: string) => {
      const reply = await fetch(`${stage.running.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({
          model: "ok",
          messages: [{ role: "user", content: "Hello" }],
          max_tokens: 10,
          user,
        }),
      });
      const { error } = (await reply.json()) as { error?: { code: string } };
      return error?.code ?? "answered";
    };
    const setBudget = async (amount: string, id?: string) => {
      await ada.button("Set a budget of end users").click();
      const dialog = ada.page.getByRole("dialog");
      if (id !== undefined) await dialog.getByLabel("Single end user").fill(id);
      await dialog.getByLabel(/USD in the span/).fill(amount);
      await ada.inspect(`end-users-set-${id ?? "each"}`);
      await dialog.getByRole("button", { name: "Save" }).click();
      await ada.sees("The budget is changed. It holds from the next call on.");
    };
    await ada.go(`${account}/limits`);
    await ada.sees("End users have no budgets.");
    await setBudget("0.000000001");
    await ada.page.getByRole("row", { name: /All keys.*UTC day/ }).waitFor();
    expect(await call("customer-1")).toBe("end_user_budget_exceeded");
    await setBudget("0.5", "customer-1");
    await ada.sees("One end user has budgets of its own.");
    expect(await call("customer-1")).toBe("answered");
    expect(await call("customer-2")).toBe("end_user_budget_exceeded");

    await ada.page.getByLabel("An end user, as your calls name it").fill("customer-1");
    await ada.button("Show what it has spent").click();
    await ada.page.getByRole("row", { name: /This one.*UTC day.*0\.5/ }).waitFor();
    await ada.inspect("end-users-shown");
    await stage.running.product.booked();
    await ada.page.getByRole("link", { name: "Its requests" }).click();
    const rows = ada.page.getByRole("row", { name: /End user: [\w-]{22}/ });
    await rows.first().waitFor();
    expect(await rows.count()).toBe(2);
    await rows.first().click();
    await ada.page.getByRole("complementary").getByText("End user", { exact: true }).waitFor();
    await ada.inspect("requests-of-an-end-user");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
