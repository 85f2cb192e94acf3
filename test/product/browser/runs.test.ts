// Tests the runs on the page of limits in a real browser: begun by the API, then paused, resumed
// and raised by a person.

import { describe, expect, test } from "bun:test";
import { createKey } from "../../../src/accounts/administration.ts";
import { adjustBalance } from "../../../src/accounts/payments.ts";
import { usd } from "../../../src/core/money/money.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, ...stage } = await sharedStage();

describe.skipIf(!canRun)("the runs of an account", () => {
  test("are begun by calls, and paused, resumed and raised on the page", async () => {
    const { visitor: ada, account } = await stage.person("ada@example.com");
    const { administration } = stage.running.product.operator;
    const { key } = await createKey(administration, account, {
      name: "agent",
      scopes: ["models"],
      ipAllowlist: [],
      monthlyLimit: null,
    });
    const credit = { amount: usd("1"), reason: "a test", reference: null };
    await adjustBalance(administration, account, credit);
    const call = async (run = "nightly-7; max-usd=0.5; step=plan") => {
      const reply = await fetch(`${stage.running.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "x-svc-run": run },
        body: JSON.stringify({
          model: "ok",
          messages: [{ role: "user", content: "Hello" }],
          max_tokens: 10,
        }),
      });
      const { error } = (await reply.json()) as { error?: { code: string } };
      return error?.code ?? "answered";
    };
    await ada.go(`${account}/limits`);
    await ada.sees("No runs yet");
    await ada.inspect("runs-none");
    expect(await call()).toBe("answered");
    await ada.page.reload();
    const row = ada.page.getByRole("row", { name: /nightly-7.*Active/ });
    await row.waitFor();
    await ada.inspect("runs-active");

    await row.getByRole("button", { name: /^Pause/ }).click();
    await ada.sees("The run is paused.");
    await ada.page.getByRole("row", { name: /nightly-7.*Paused/ }).waitFor();
    expect(await call("nightly-7")).toBe("run_paused");
    await ada.inspect("runs-paused");
    await ada.button(/^Resume/).click();
    await ada.sees("The run takes calls again.");
    await row.waitFor();
    expect(await call("nightly-7")).toBe("answered");

    await row.getByRole("button", { name: /^Raise/ }).click();
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByLabel(/USD for the run/).fill("0.75");
    await ada.inspect("runs-raise");
    await dialog.getByRole("button", { name: "Save" }).click();
    await ada.sees("The budget of the run is changed.");
    await ada.page.getByRole("row", { name: /nightly-7.*0\.75/ }).waitFor();
    await row.getByRole("button", { name: /^Details/ }).click();
    await ada.sees(/nightly-7: /);
    await ada.inspect("runs-details");
    await ada.page.getByRole("link", { name: "Its requests" }).click();
    await ada.page
      .getByRole("row", { name: /Run: nightly-7/ })
      .first()
      .waitFor();
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
