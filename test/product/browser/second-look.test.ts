// Tests a page after a change elsewhere, after a refusal, and with the longest names, in a real
// browser against the real product.

import { describe, expect, test } from "bun:test";
import type { Visitor } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, ...stage } = await sharedStage();
const { visitor: ada, account } = await stage.person("ada@example.com");
const bob = await stage.visitor();

/** Sends a change as another window of the same person would. */
async function post({ page }: Visitor, path: string, body: object): Promise<number> {
  return await page.evaluate(
    async ([address, text]) => {
      const init = { method: "POST", headers: { "content-type": "application/json" } };
      return (await fetch(address, { ...init, body: text })).status;
    },
    [`/console/api/${path}`, JSON.stringify(body)] as const,
  );
}

async function invite(email: string): Promise<string> {
  await ada.page.getByLabel(/^E-mail/).fill(email);
  await ada.button("Invite").click();
  await ada.sees(`${email} is invited. No mail was sent: there is no mail server here.`);
  const mailed = ada.page.getByRole("link", { name: "the link" });
  return (await mailed.getAttribute("href")) ?? "";
}

describe.skipIf(!canRun)("a page", () => {
  test("shows a member's present role, after it was changed elsewhere", async () => {
    await ada.go(`${account}/team`);
    const link = await invite("bob@example.com");
    await bob.signUp("bob@example.com");
    await bob.page.goto(link);
    await bob.button("Accept the invitation").click();
    await bob.page.waitForURL(new RegExp(account));
    await ada.go(`${account}/team`);
    const role = ada.page.getByRole("combobox", { name: "Role of bob@example.com" });
    expect(await role.inputValue()).toBe("viewer");
    const me = await bob.page.evaluate(async () => (await fetch("/console/api/me")).json());
    const { person } = me as { readonly person: { readonly id: string } };
    const path = `accounts/${account}/members/${person.id}/role`;
    expect(await post(ada, path, { role: "billing" })).toBe(200);
    // The page reads the team again.
    await invite("carol@example.com");
    await ada.sees(/carol@example.com · viewer/);
    expect(await role.inputValue()).toBe("billing");
    expect(await ada.button("Save").count()).toBe(0);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("accepts a mailed code once, however often the change after it is tried", async () => {
    await ada.go(`${account}/settings`);
    await ada.button("Change the address").click();
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByLabel("New address").fill("ada@nowhere");
    await ada.button("Use a mailed code instead").click();
    await ada.button("Mail me a code").click();
    await ada.typeCode(await ada.text(dialog.locator(".notice code")));
    await ada.button("Continue").click();
    await ada.sees("email has no valid domain");
    await dialog.getByLabel("New address").fill("ada@example.org");
    await ada.button("Continue").click();
    await ada.sees("A link is on its way to ada@example.org.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("of a mailed link names the new address before it is taken", async () => {
    const link = ada.page.getByRole("link", { name: "the link" });
    await ada.page.goto((await link.getAttribute("href")) ?? "");
    await ada.sees(/From now on you sign in with ada@example\.org/);
    await ada.button("Use this address").click();
    await ada.sees("Your address is changed.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("of an unknown receipt can be closed", async () => {
    await ada.go(`${account}/requests?open=req_0000000000000000000000`);
    const receipt = ada.page.getByRole("complementary", { name: "Receipt" });
    await receipt.getByRole("alert").waitFor();
    await ada.inspect("no-receipt");
    await receipt.getByRole("button", { name: "Close" }).click();
    await receipt.waitFor({ state: "detached" });
    expect(ada.page.url()).toEndWith(`${account}/requests`);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("reports that a new cap is not yet in force on all servers", async () => {
    const reply = { own_cap_usd: "3", applied: false };
    await ada.page.route("**/limits/cap", (route) => route.fulfill({ json: reply }));
    await ada.go(`${account}/limits`);
    await ada.button("Set your own cap").click();
    await ada.page.getByRole("dialog").getByRole("textbox").fill("3");
    await ada.button("Save").click();
    await ada.sees("The cap is changed. Until all servers know");
    await ada.page.unroute("**/limits/cap");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("of payments says that it lists the newest, and gives a refund no time", async () => {
    const sums = { fee_usd: "0", tax_usd: "0", bonus_usd: "0", disputed_usd: "0", dispute: null };
    const payments = Array.from({ length: 100 }, (_, index) => ({
      ...sums,
      id: `pay_${index}`,
      kind: "auto",
      provider: "stripe",
      receipt_url: null,
      amount_usd: "10",
      refunded_usd: index === 0 ? "4" : "0",
      paid_at: "2026-11-01T00:00Z",
    }));
    await ada.page.route("**/console/api/accounts/*/billing", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), payments } });
    });
    await ada.go(`${account}/billing`);
    await ada.sees("The newest 100 payments and top-ups; the ledger below has all");
    const refund = ada.page.getByRole("row", { name: /Refund/ });
    expect(await ada.text(refund)).toStartWith("Refundpay_0");
    await ada.page.unroute("**/console/api/accounts/*/billing");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("cuts the address of a person that is wider than the sidebar", async () => {
    const { visitor } = await stage.person(`${"w".repeat(40)}@example.com`);
    await visitor.inspect("long-address");
    expect(visitor.complaints.splice(0)).toEqual([]);
  });

  test("with the longest names and addresses fits a phone", async () => {
    const long = "W".repeat(64);
    expect(await post(ada, `accounts/${account}/rename`, { name: long })).toBe(200);
    expect(await post(ada, "me/name", { name: long })).toBe(200);
    const key = { name: long, scopes: ["models"] };
    expect(await post(ada, `accounts/${account}/keys`, key)).toBe(200);
    const email = `${"w".repeat(60)}@${"w".repeat(60)}.${"w".repeat(60)}.example.com`;
    const wish = { email, role: "viewer" };
    expect(await post(ada, `accounts/${account}/invitations`, wish)).toBe(200);
    for (const path of ["team", "keys", "limits", "overview", "usage?group=key", "settings"]) {
      await ada.go(`${account}/${path}`);
      await ada.inspect(`long-${path.split("?")[0]}`);
    }
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
