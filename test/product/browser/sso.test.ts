// Tests single sign-on in a real browser, against the real product and a real provider: from a page
// of operators to the provider and back to that page.

import { describe, expect, test } from "bun:test";
import { CLIENT_ID, CLIENT_SECRET, OidcIssuer } from "../../support/fakes/oidc-issuer.ts";
import { totp } from "../../support/fakes/totp.ts";
import { PASSWORD } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";
import { shared } from "../../support/shared.ts";

const OPERATOR = "ops@example.com";

const issuer = await shared(OidcIssuer.start());
const { canRun, running, ...stage } = await sharedStage({
  OPERATOR_OIDC_ISSUER: issuer.issuer,
  OPERATOR_OIDC_CLIENT_ID: CLIENT_ID,
  OPERATOR_OIDC_CLIENT_SECRET: CLIENT_SECRET,
  OPERATOR_OIDC_ONLY: "true",
});
if (canRun) issuer.redirectUris.push(`${running.url}/dashboard/sso`);
const ops = await stage.operator(OPERATOR);

const sso = () => ops.button("Sign in with SSO");

/** Sets the person who signs in at the provider next. */
function signsIn(email: string, amr = ["mfa"]): void {
  issuer.somebody = { sub: email, email, email_verified: true, amr };
}

describe.skipIf(!canRun)("an operator", () => {
  test("with only a password is led to the provider, and back to the same page", async () => {
    await ops.page.goto(`${ops.base}/operator/trail`);
    await ops.sees("This installation opens the pages of operators only through its provider.");
    await ops.inspect("operator-needs-sso");
    signsIn(OPERATOR);
    await sso().click();
    await ops.page.waitForURL(/\/operator\/trail$/);
    await ops.page.getByRole("heading", { name: "Trail" }).waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("signs out, and in again from the page for signing in", async () => {
    await ops.button(OPERATOR).click();
    await ops.page.getByRole("menuitem", { name: "Sign out" }).click();
    await ops.page.waitForURL(/sign-in/);
    expect(await sso().isVisible()).toBe(false);
    await ops.page.goto(`${ops.base}/operator/mails`);
    await ops.page.waitForURL(/sign-in/);
    await sso().waitFor();
    await ops.inspect("sign-in-with-sso");
    await sso().click();
    await ops.page.waitForURL(/\/operator\/mails$/);
    await ops.page.getByRole("heading", { name: "Mails" }).waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("whose provider names no factor sets one up by a link, and then gives it", async () => {
    await ops.page.context().clearCookies();
    signsIn(OPERATOR, ["pwd"]);
    await ops.page.goto(`${ops.base}/operator`);
    await sso().click();
    await ops.sees(`farebox operator invite ${OPERATOR}`);
    expect(await ops.button("Turn on").count()).toBe(0);
    await ops.inspect("operator-sso-needs-link");

    // Otherwise this browser would have passed the provider, and be let in at once.
    await ops.page.context().clearCookies();
    await ops.page.goto(await stage.link(OPERATOR, "/operator"));
    await ops.button("Sign in").click();
    await ops.sees("This installation opens the pages of operators only through its provider.");
    await ops.inspect("operator-sso-set-up");
    await ops.button("Turn on").click();
    const dialog = ops.page.getByRole("dialog");
    await dialog.locator("input[type=password]").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Continue" }).click();
    const secret = await ops.text(ops.page.getByLabel("The secret", { exact: true }));
    await ops.typeCode(totp(secret));
    await dialog.getByRole("button", { name: "Turn on" }).click();
    await ops.sees("The second factor is on.");

    await sso().click();
    await ops.page.waitForURL(/two-factor/);
    await ops.typeCode(totp(secret, 1));
    await ops.button("Continue").click();
    await ops.page.getByRole("heading", { name: "Accounts" }).waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });

  test("whose address is not on the list reads that, on a page without the query", async () => {
    await ops.page.context().clearCookies();
    signsIn("stranger@example.com");
    await ops.page.goto(`${ops.base}/operator`);
    await sso().click();
    await ops.sees("There is no operator stranger@example.com here");
    await ops.inspect("sso-refused");
    expect(new URL(ops.page.url())).toMatchObject({ pathname: "/dashboard/sso", search: "" });
    await ops.page.getByRole("link", { name: "Sign in" }).click();
    await sso().waitFor();
    expect(ops.complaints.splice(0)).toEqual([]);
  });
});
