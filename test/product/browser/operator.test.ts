// Tests the operators' console in a real browser, against the real product: sign-in with a second
// factor, an account found, credited, refunded, suspended and resumed, and the trail of it.

import { describe, expect, test } from "bun:test";
import { makeSignInLink } from "../../../src/identity/sign-in-link.ts";
import { Configurations } from "../../../src/store/operators/configurations.ts";
import { ensurePerson } from "../../../src/store/people/known-people.ts";
import { totp } from "../../support/fakes/totp.ts";
import { PASSWORD, type Visitor } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";
import { failedMail, troubleOf } from "../../support/product/operator-rows.ts";
import { random } from "../../support/random.ts";

const OPERATOR = "ops@example.com";

const { canRun, running, ...stage } = await sharedStage();
const { visitor: ada, account } = await stage.person("ada@example.com");
const ops = await stage.operator(OPERATOR);
let secret = "";

async function open(who: Visitor, path = ""): Promise<void> {
  await who.page.goto(`${running.url}/operator${path}`);
}

const dialogOf = ({ page }: Visitor) => page.getByRole("dialog");
const dialog = () => dialogOf(ops);

/** Fills the fields of a dialog by their labels, and sends it. */
async function answer(fields: Readonly<Record<string, string>>, action: string): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await dialog().getByLabel(label, { exact: true }).fill(text);
  }
  await dialog().getByRole("button", { name: action, exact: true }).click();
  await dialog().waitFor({ state: "hidden" });
}

describe.skipIf(!canRun)("an operator", () => {
  test("whose session a password began sees that it needs a link and how to get it", async () => {
    await using visitor = await stage.visitor();
    await visitor.page.goto(`${running.url}/dashboard/sign-in?next=%2Foperator`);
    await visitor.field(/^E-mail/).fill(OPERATOR);
    await visitor.page.locator("input[name=password]").fill(PASSWORD);
    await visitor.button("Sign in").click();
    await visitor.sees("Set up your second factor");
    await visitor.sees("farebox operator invite ops@example.com");
    expect(await visitor.button("Turn on").count()).toBe(0);
    await visitor.inspect("operator-needs-link");
    await visitor.go("");
    await visitor.page.waitForURL(/overview/);
    await visitor.page.goto(visitor.page.url().replace(/overview.*/, "settings"));
    await visitor.sees("farebox operator invite ops@example.com");
    expect(await visitor.button("Turn on").count()).toBe(0);
    expect(await visitor.button("Add a passkey").count()).toBe(0);
    await visitor.sees("You can change the address once you have set up your second factor.");
    expect(await visitor.button("Change the address").count()).toBe(0);
    await visitor.inspect("settings-needs-link");
    expect(visitor.complaints).toEqual([]);
  });

  test("must set up a second factor first, and other people cannot find the pages", async () => {
    await open(ada);
    await ada.sees("There is no such page");
    await open(ops);
    await ops.sees("Set up your second factor");
    await ops.inspect("operator-set-up");
    await ops.button("Turn on").click();
    // A person who was invited by the command has no password.
    const forgot = dialog().getByRole("link", { name: "No password yet" });
    expect(await forgot.getAttribute("href")).toBe("/dashboard/forgot");
    await dialog().locator("input[type=password]").fill(PASSWORD);
    await dialog().getByRole("button", { name: "Continue" }).click();
    secret = (await ops.text(ops.page.getByLabel("The secret", { exact: true }))).trim();
    await dialog().getByRole("textbox").last().fill(totp(secret));
    await dialog().getByRole("button", { name: "Turn on" }).click();
    await ops.page.getByRole("heading", { name: "Accounts" }).waitFor();
    expect([ada.complaints.splice(0), ops.complaints.splice(0)]).toEqual([[], []]);
  });

  test("signs in with the second factor, and is led back to its page", async () => {
    await ops.page.context().clearCookies();
    await open(ops, "/trail");
    await ops.page.waitForURL(/sign-in/);
    await ops.field(/^E-mail/).fill(OPERATOR);
    await ops.page.locator("input[name=password]").fill(PASSWORD);
    await ops.button("Sign in").click();
    await ops.page.waitForURL(/two-factor/);
    await ops.typeCode(totp(secret, 1));
    await ops.button("Continue").click();
    await ops.page.waitForURL(/\/operator\/trail/);
    await ops.page.getByRole("heading", { name: "Trail" }).waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("finds an account by its address, with the data of its people", async () => {
    await ops.page.keyboard.press("/");
    await ops.page.locator("#operator-search").fill("ada@");
    await ops.page.keyboard.press("Enter");
    await ops.page.getByRole("row", { name: new RegExp(account) }).waitFor();
    await ops.inspect("operator-accounts");
    await ops.page
      .getByRole("row", { name: new RegExp(account) })
      .getByRole("link")
      .click();
    await ops.page.getByRole("heading", { name: "Change this account" }).waitFor();
    await ops.page.getByRole("banner").getByText(account).waitFor();
    await ops.inspect("operator-account");
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("credits it once the amount was typed twice and a reason given", async () => {
    await ops.button("Credit a payment").click();
    const credit = dialog().getByRole("button", { name: "Credit", exact: true });
    await dialog().getByLabel("Amount in USD", { exact: true }).fill("25");
    expect(await credit.isDisabled()).toBe(true);
    await ops.inspect("operator-question");
    await answer({ Reason: "Bank transfer 4711", "Type the amount again": "25" }, "Credit");
    await ops.page.getByRole("main").getByText("$25.00").first().waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("refunds a part of the payment", async () => {
    await ops.page.getByRole("link", { name: "Payments" }).click();
    await ops.page.getByRole("button", { name: /^Refund: pay_/ }).click();
    const fields = { "Amount in USD": "5", Reason: "Asked for", "Type the amount again": "5" };
    await answer(fields, "Refund");
    await ops.page.getByRole("row", { name: /Refund.*refunded.*\$5\.00/ }).waitFor();
    await ops.inspect("operator-payments");
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("suspends and resumes it, with its id typed", async () => {
    await open(ops, `/${account}`);
    await ops.button("Suspend").click();
    const suspend = dialog().getByRole("button", { name: "Suspend", exact: true });
    await dialog().getByLabel("Reason", { exact: true }).fill("Looks stolen");
    expect(await suspend.isDisabled()).toBe(true);
    await ops.page.route("**/suspend", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), applied: false } });
    });
    await answer({ [`Type ${account} to confirm`]: account }, "Suspend");
    await ops.sees("It is recorded, and takes effect as soon as Redis answers.");
    await ops.button("Resume").waitFor();
    await ops.inspect("operator-suspended");
    await ada.go(`${account}/overview`);
    await ada.page.getByRole("alert").first().waitFor();
    await ops.button("Resume").click();
    await answer({ Reason: "It was not" }, "Resume");
    await ops.button("Suspend").waitFor();
    expect([ada.complaints.splice(0), ops.complaints.splice(0)]).toEqual([[], []]);
  });

  test("reads the trail, which the account's owner reads in its activity", async () => {
    await open(ops, "/trail");
    for (const line of [
      /\$25 credited as a payment.*Bank transfer 4711.*done/,
      /\$5 of pay_\w+ refunded.*Asked for.*done/,
      /suspended.*Looks stolen.*done/,
      /resumed.*It was not.*done/,
    ]) {
      await ops.page.getByRole("row", { name: line }).waitFor();
    }
    await ops.inspect("operator-trail");
    await open(ops, `/${account}/activity`);
    await ops.page
      .getByRole("row", { name: /ops@example\.com.*Looks stolen/ })
      .first()
      .waitFor();
    await ops.inspect("operator-activity");
    await ada.go(`${account}/settings`);
    await ada.page
      .getByRole("row", { name: /ops@example\.com.*credited.*Bank transfer 4711/ })
      .waitFor();
    expect([ada.complaints.splice(0), ops.complaints.splice(0)]).toEqual([[], []]);
  });

  test("sees keys that rules pause, and webhooks that take no events", async () => {
    await using _ = await troubleOf(running.product, account);
    await open(ops, `/${account}`);
    await ops.page.getByRole("link", { name: "Alarms and webhooks" }).click();
    await ops.sees(/The key "agent" is paused until/);
    for (const line of [
      /Each key.*\$5\.00.*3 times.*Pause the key, for 30 min/,
      /agent.*\$6\.40.*\$5\.00.*Pause the key/,
      /hooks\.example.*hook_watched.*key\.burn_rate.*took nothing for 24 hours/,
      /hooks\.example.*Failed.*9.*500.*It answered 500/,
    ]) {
      await ops.page.getByRole("row", { name: line }).waitFor();
    }
    expect(await ops.page.getByText("secret-path").count()).toBe(0);
    expect(await ops.page.getByRole("button", { name: /Send again|Remove/ }).count()).toBe(0);
    await ops.inspect("operator-watch");
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("pauses a service and resumes it", async () => {
    await open(ops, "/health");
    await ops.button("Pause").click();
    await answer({ Reason: "Its server is moved", "Type chat to confirm": "chat" }, "Pause");
    await ops.page.getByRole("row", { name: /^chat/ }).waitFor();
    await ops.inspect("operator-health");
    await ops.button("Resume: chat").click();
    await answer({ Reason: "It is back" }, "Resume");
    await ops.sees("Nothing is paused.");
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("reads the versions of the configuration, and puts an earlier one in force", async () => {
    const configurations = new Configurations(running.product.operator.database);
    const text = running.product.catalogueText([{ id: "small", input: "1", output: "2" }]);
    const row = { note: null, rollsBackTo: null, expected: null, at: new Date() };
    await configurations.apply({ ...row, text, actor: "command line" }, () => [
      "model small: added",
    ]);
    const other = running.product.catalogueText([{ id: "small", input: "3", output: "2" }]);
    await configurations.apply({ ...row, text: other, actor: "command line" }, () => []);
    await open(ops, "/configurations");
    await ops.page.getByRole("row", { name: /^2 in force.*nothing that is sold/ }).waitFor();
    await ops.button("Show: 1").click();
    await ops.sees("The text of version 1");
    await ops.inspect("operator-configurations");
    await ops.button("Put in force: 1").click();
    const fields = { Reason: "Too dear", "Type version 1 to confirm": "version 1" };
    await answer(fields, "Put in force");
    await ops.page
      .getByRole("row", { name: /^3 in force.*the text of version 1.*ops@example\.com.*Too dear/ })
      .waitFor();
    await ops.sees("The process that answered runs version 3.");
    await open(ops, "/trail");
    await ops.page
      .getByRole("row", { name: /configuration back to version 1.*Too dear.*done/ })
      .waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("has a worker audit all accounts, and sees the result", async () => {
    await open(ops, "/audits");
    await ops.button("Audit all accounts").click();
    await answer({ Reason: "Monthly" }, "Audit");
    await ops.sees("Clean");
    await ops.inspect("operator-audits");
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("sends a mail again that has failed", async () => {
    await failedMail(running.product);
    await open(ops, "/mails?status=failed");
    await ops.page.getByRole("row", { name: /gone@customer\.example.*rejected address/ }).waitFor();
    await ops.inspect("operator-mail-failed");
    await ops.page.getByRole("button", { name: /^Send again/ }).click();
    await answer({ Reason: "The inbox is back" }, "Send again");
    await ops.page
      .getByRole("row", { name: /gone@customer\.example/ })
      .waitFor({ state: "detached" });
    await open(ops, "/trail");
    await ops.page.getByRole("row", { name: /The inbox is back.*done/ }).waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("makes a batch of vouchers, whose file has links that work, and ends it", async () => {
    await open(ops, "/vouchers");
    await ops.sees("There are no vouchers.");
    await ops.button("Make a batch").click();
    await ops.inspect("operator-voucher-new");
    await dialog().getByLabel("How many codes, at most 5,000").fill("2");
    await dialog().getByLabel("An inbox, a network and a device redeem one code").uncheck();
    const saving = ops.page.waitForEvent("download");
    await answer(
      {
        "Name of the batch": "autumn",
        "Amount in USD": "5",
        Reason: "A fair",
        "Type the amount again": "5",
      },
      "Save the codes and make them valid",
    );
    const file = await saving;
    expect(file.suggestedFilename()).toBe("autumn.csv");
    const [head, first = "", second = ""] = (await Bun.file(await file.path()).text()).split(
      "\r\n",
    );
    expect(head).toBe("code,usd,uses,link,free_days,plan,months");
    const [code, usd, uses, link = ""] = first.split(",");
    expect([usd, uses, link]).toEqual([
      "5",
      "1",
      `${running.url}/dashboard/billing#voucher=${code}`,
    ]);
    await ada.page.goto(link);
    await dialogOf(ada).getByRole("button", { name: "Redeem" }).click();
    await ada.sees("$5.00 was added to your balance.");
    await open(ops, "/vouchers");
    await ops.page.getByRole("row", { name: /autumn.*\$5\.00.*1 of 2, 2 codes/ }).waitFor();
    await ops.inspect("operator-vouchers");
    await ops.page.getByRole("button", { name: "End: autumn" }).click();
    await answer({ Reason: "The fair is over" }, "End the codes");
    await ops.page.getByRole("row", { name: /autumn.*ended/ }).waitFor();
    await ada.page.goto(second.split(",")[3] ?? "");
    await dialogOf(ada).getByRole("button", { name: "Redeem" }).click();
    await ada.sees("The voucher has ended");
    ada.complaints.splice(0);
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("makes a batch of vouchers for a plan, with its months in file and list", async () => {
    await open(ops, "/vouchers");
    await ops.button("Make a batch").click();
    await dialog().getByLabel("What each code gives").click();
    await ops.page.getByRole("option", { name: "the plan Pro" }).click();
    await dialog().getByLabel("Months of the plan").fill("3");
    await ops.inspect("operator-voucher-plan");
    const saving = ops.page.waitForEvent("download");
    await answer(
      { "Name of the batch": "quarter", Reason: "Partners" },
      "Save the codes and make them valid",
    );
    const [, line = ""] = (await Bun.file(await (await saving).path()).text()).split("\r\n");
    const [code = "", ...rest] = line.split(",");
    const link = `${running.url}/dashboard/billing#voucher=${code}`;
    expect(rest).toEqual(["", "1", link, "", "pro", "3"]);
    await ops.page.getByRole("row", { name: /quarter.*Pro, months: 3.*once per person/ }).waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("sees revenue, disputes, grants, mails, events and rejected entries", async () => {
    for (const page of ["revenue", "disputes", "grants", "mails", "events", "rejected"]) {
      await open(ops, `/${page}`);
      await ops.page.getByRole("heading", { level: 1 }).waitFor();
      await ops.settled();
      await ops.inspect(`operator-${page}`);
    }
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("whose session ends while a page is open is led to sign-in", async () => {
    await open(ops, `/${account}`);
    await ops.page.getByRole("heading", { name: "Change this account" }).waitFor();
    const { sql } = running.product.operator.database;
    await sql`DELETE FROM sessions`;
    await ops.page.waitForURL(/sign-in\?next=%2Foperator%2Facct_/);
    expect(ops.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("an operator who was invited, without a password or a mail", () => {
  /** Signs in by a link, as `operator invite` makes it. */
  async function followLink(visitor: Visitor, email = "new@example.com"): Promise<void> {
    const { database } = running.product.operator;
    const now = new Date();
    const wish = { email, name: "", isOperator: true, opensAccount: false };
    const personId = await ensurePerson(database, wish, { random, now });
    const link = { personId, origin: visitor.base, next: "/operator" };
    await visitor.page.goto(await makeSignInLink(database, link, { random, now }));
    await visitor.button("Sign in").click();
  }

  test("gets in by a passkey, which a later link then requires", async () => {
    // Browsers make passkeys only for host names.
    await using invited = await stage.visitor(running.url.replace("127.0.0.1", "localhost"));
    await invited.addAuthenticator();
    await followLink(invited);
    await invited.sees("Set up your second factor");
    await invited.settled();
    expect(await invited.button("Sign in with a passkey").isVisible()).toBe(false);
    await invited.inspect("operator-set-up-passkey");
    await invited.button("Add a passkey").click();
    await invited.field(/^A name for it/).fill("Laptop");
    await invited.inspect("operator-passkey-add");
    await invited.button("Continue").click();
    await invited.page.getByRole("heading", { name: "Accounts" }).waitFor();

    await invited.context.clearCookies();
    await followLink(invited);
    await invited.page.waitForURL(/two-factor/);
    expect(await invited.button("Continue").count()).toBe(0);
    await invited.button("Sign in with a passkey").click();
    await invited.page.getByRole("heading", { name: "Accounts" }).waitFor();
    expect(invited.complaints).toEqual([]);
  });

  test("must prove who they are if the link was used long ago", async () => {
    await using invited = await stage.visitor(running.url.replace("127.0.0.1", "localhost"));
    await invited.addAuthenticator();
    await followLink(invited, "late@example.com");
    await invited.sees("Set up your second factor");
    const { sql } = running.product.operator.database;
    await sql`UPDATE sessions SET proved_at = now() - interval '6 minutes',
      created_at = now() - interval '6 minutes'`;
    await invited.button("Add a passkey").click();
    await invited.field(/^A name for it/).fill("Phone");
    await invited.button("Continue").click();
    await invited.sees("Enter your password again to do this");
    await invited.button("Use a mailed code instead").click();
    await invited.button("Mail me a code").click();
    await invited.typeCode(await invited.text(dialogOf(invited).locator(".notice code")));
    await invited.button("Continue").click();
    await invited.page.getByRole("heading", { name: "Accounts" }).waitFor();
    expect(invited.complaints).toEqual([]);
  });

  test("has only the app if passkeys are impossible, at an IP address", async () => {
    await using invited = await stage.visitor();
    await followLink(invited, "numbers@example.com");
    await invited.sees("Passkeys work where the dashboard is opened by a host name on HTTPS");
    expect(await invited.button("Add a passkey").isVisible()).toBe(false);
    await invited.button("Turn on").waitFor();
    expect(invited.complaints).toEqual([]);
  });
});
