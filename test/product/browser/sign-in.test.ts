// Tests every way into the dashboard, in a real browser against the real product: code, reset,
// second factor, one-time link and passkey; and the pages on the way are accessible in light and
// dark.

import { describe, expect, test } from "bun:test";
import { totp } from "../../support/fakes/totp.ts";
import { PASSWORD, type Visitor } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const EMAIL = "ada@example.com";
const NEW_PASSWORD = "another horse, another battery";

const { canRun, running, ...stage } = await sharedStage();
const { visitor: ada, account } = await stage.person(EMAIL);

/**
 * A browser without a session, which takes one way in; no page on the way may cause a complaint.
 */
async function enter(way: (visitor: Visitor) => Promise<void>): Promise<void> {
  await using visitor = await stage.visitor();
  await way(visitor);
  await visitor.page.waitForURL(/\/dashboard\/acct_\w+\/overview/);
  expect(visitor.complaints).toEqual([]);
}

async function fillPassword(
  visitor: Visitor,
  password: string,
  { page = "sign-in", email = EMAIL } = {},
): Promise<void> {
  await visitor.go(page);
  await visitor.field(/^E-mail/).fill(email);
  await visitor.page.locator("input[name=password]").fill(password);
  await visitor.button("Sign in").click();
}

test.skipIf(!canRun)(
  "an invitation waits for a sign-in, and no server gets its token",
  async () => {
    await ada.go(`${account}/team`);
    await ada.page.getByLabel(/^E-mail/).fill("bob@example.com");
    await ada.button("Invite").click();
    const mailed = ada.page.getByRole("link", { name: "the link" });
    const link = new URL((await mailed.getAttribute("href")) ?? "");
    const token = link.hash.replace("#token=", "");
    await stage.person("bob@example.com");
    await using bob = await stage.visitor();
    const asked: string[] = [];
    bob.page.on("request", (request) => asked.push(request.url()));
    await bob.page.goto(link.href);
    await bob.button("Sign in").click();
    await bob.page.waitForURL(/sign-in/);
    // As a browser does that is restarted.
    await bob.page.reload();
    await bob.field(/^E-mail/).fill("bob@example.com");
    await bob.page.locator("input[name=password]").fill(PASSWORD);
    await bob.button("Sign in").click();
    await bob.button("Accept the invitation").click();
    await bob.page.waitForURL(new RegExp(`${account}/overview`));
    expect(token.length).toBeGreaterThan(20);
    // Playwright's addresses include the part after "#", which browsers send to no server.
    const sent = asked.map((url) => url.replace(/#.*/, ""));
    expect(sent.filter((url) => url.includes(token))).toEqual([]);
    expect(bob.complaints).toEqual([]);
  },
);

describe.skipIf(!canRun)("a person gets in by", () => {
  test("a mailed code, even with an inbox that is new here", async () => {
    for (const email of [EMAIL, "new@example.com"]) {
      await enter(async (visitor) => {
        await visitor.go("code");
        if (email === EMAIL) await visitor.inspect("code");
        await visitor.field(/^E-mail/).fill(email);
        await visitor.button("Send the code").click();
        const code = await visitor.text(visitor.page.locator(".notice code"));
        if (email === EMAIL) await visitor.inspect("code-sent");
        await visitor.typeCode(code);
        await visitor.button("Sign in").click();
      });
    }
  });

  test("a new password, after which the old one no longer works", async () => {
    await enter(async (visitor) => {
      await visitor.go("forgot");
      await visitor.inspect("forgot");
      await visitor.field(/^E-mail/).fill(EMAIL);
      await visitor.button("Send the link").click();
      await visitor.sees("Check your inbox");
      await visitor.inspect("forgot-sent");
      await visitor.page.getByRole("link", { name: "the link" }).click();
      await visitor.page.waitForURL(/reset/);
      await visitor.inspect("reset");
      await visitor.page.locator("input[type=password]").fill(NEW_PASSWORD);
      await visitor.button("Set the password").click();
      await visitor.page.waitForURL(/sign-in/);
      await fillPassword(visitor, PASSWORD);
      await visitor.sees("The e-mail address or the password is wrong.");
      await fillPassword(visitor, NEW_PASSWORD);
    });
    await fillPassword(ada, NEW_PASSWORD);
    await ada.page.waitForURL(/overview/);
  });

  test("a one-time link of the operator, by a button", async () => {
    const url = await stage.link(EMAIL);
    await enter(async (visitor) => {
      await visitor.page.goto(url);
      await visitor.inspect("link");
      await visitor.button("Sign in").click();
    });
  });
});

test.skipIf(!canRun)("signing in leads to no other host, whatever its address says", async () => {
  // Two of the ten passwords that one address may try for an inbox.
  for (const next of ["//evil.example/", "/\\evil.example"]) {
    await enter(async (visitor) => {
      await fillPassword(visitor, NEW_PASSWORD, {
        page: `sign-in?next=${encodeURIComponent(next)}`,
      });
      await visitor.page.waitForURL((url) => url.origin === running.url && !url.search);
    });
  }
});

describe.skipIf(!canRun)("a passkey", () => {
  test("is made, signs in without a password, and is removed", async () => {
    // Browsers make passkeys only for host names.
    const base = running.url.replace("127.0.0.1", "localhost");
    await using owner = await stage.visitor(base);
    await owner.addAuthenticator();
    await fillPassword(owner, NEW_PASSWORD);
    await owner.page.waitForURL(/overview/);
    await owner.go(`${account}/settings`);
    await owner.button("Add a passkey").click();
    await owner.field(/^A name for it/).fill("Laptop");
    await owner.page.getByRole("dialog").locator("input[type=password]").fill(NEW_PASSWORD);
    await owner.inspect("passkey-add");
    await owner.button("Continue").click();
    await owner.sees("The passkey Laptop is added.");
    await owner.page.getByRole("row", { name: /Laptop.*not yet/ }).waitFor();
    await owner.inspect("passkeys");

    await owner.context.clearCookies();
    await owner.go("sign-in");
    await owner.inspect("sign-in-passkey");
    await owner.button("Sign in with a passkey").click();
    await owner.page.waitForURL(/\/overview/);

    // By a mailed code, as a person without a password does.
    await owner.go(`${account}/settings`);
    await owner.button("Remove: Laptop").click();
    await owner.button("Use a mailed code instead").click();
    await owner.button("Mail me a code").click();
    const code = await owner.text(owner.page.getByRole("dialog").locator(".notice code"));
    await owner.typeCode(code);
    await owner.inspect("passkey-remove");
    await owner.page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await owner.sees("You have no passkey.");
    await owner.context.clearCookies();
    await owner.go("sign-in");
    await owner.button("Sign in with a passkey").click();
    await owner.sees("This passkey is not known here. Sign in in another way.");
    expect(owner.complaints).toEqual([]);
  });

  test("is the only factor without an app; the first one ends other sessions", async () => {
    const base = running.url.replace("127.0.0.1", "localhost");
    const email = "keys@example.com";
    const { visitor: other } = await stage.person(email);
    await using owner = await stage.visitor(base);
    await owner.addAuthenticator();
    await fillPassword(owner, PASSWORD, { email });
    await owner.page.waitForURL(/overview/);
    const settings = owner.page.url().replace(/overview.*/, "settings");
    await owner.page.goto(settings);
    await owner.button("Add a passkey").click();
    await owner.sees("All your other sessions end with it.");
    await owner.field(/^A name for it/).fill("Phone");
    await owner.page.getByRole("dialog").locator("input[type=password]").fill(PASSWORD);
    await owner.button("Continue").click();
    await owner.sees("The passkey Phone is added.");
    await other.page.reload();
    await other.page.waitForURL(/sign-in/);

    await owner.context.clearCookies();
    await fillPassword(owner, PASSWORD, { email });
    await owner.page.waitForURL(/two-factor/);
    await owner.inspect("two-factor-passkey");
    expect(await owner.button("Use a backup code").count()).toBe(0);
    expect(await owner.button("Continue").count()).toBe(0);
    await owner.button("Sign in with a passkey").click();
    await owner.page.waitForURL(/overview/);
    expect([owner.complaints, other.complaints]).toEqual([[], []]);
  });
});

describe.skipIf(!canRun)("a second factor", () => {
  let secret = "";
  let backupCodes: readonly string[] = [];

  test("is set up with the password and a first code", async () => {
    // The first passkey has ended the sessions that began without a second factor.
    await ada.go(`${account}/settings`);
    await ada.page.waitForURL(/sign-in/);
    await fillPassword(ada, NEW_PASSWORD);
    await ada.page.waitForURL(/overview/);
    await ada.go(`${account}/settings`);
    await ada.button("Turn on").click();
    await ada.page.getByRole("dialog").locator("input[type=password]").fill(NEW_PASSWORD);
    await ada.button("Continue").click();
    await ada.sees("Scan this");
    await ada.inspect("two-factor-set-up");
    secret = await ada.text(ada.page.getByLabel("The secret", { exact: true }));
    const codes = await ada.text(ada.page.getByLabel("Backup codes", { exact: true }));
    backupCodes = codes.split("\n");
    await ada.typeCode(totp(secret));
    await ada.page.getByRole("dialog").getByRole("button", { name: "Turn on" }).click();
    await ada.sees("The second factor is on.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("is required after the password: a code of the app, or a backup code", async () => {
    await enter(async (visitor) => {
      await fillPassword(visitor, NEW_PASSWORD);
      await visitor.page.waitForURL(/two-factor/);
      await visitor.inspect("two-factor");
      expect(await visitor.button("Sign in with a passkey").count()).toBe(0);
      await visitor.typeCode(totp(secret, 1));
      await visitor.button("Continue").click();
    });
    await enter(async (visitor) => {
      await fillPassword(visitor, NEW_PASSWORD);
      await visitor.button("Use a backup code").click();
      await visitor.inspect("two-factor-backup");
      await visitor.page.getByRole("textbox").fill(backupCodes[0] ?? "");
      await visitor.button("Continue").click();
    });
  });

  test("is required after a one-time link, which then leads to its page", async () => {
    const url = await stage.link(EMAIL, `/dashboard/${account}/overview`);
    await enter(async (visitor) => {
      await visitor.page.goto(url);
      await visitor.button("Sign in").click();
      await visitor.button("Use a backup code").click();
      await visitor.page.getByRole("textbox").fill(backupCodes[1] ?? "");
      await visitor.button("Continue").click();
    });
  });
});

describe.skipIf(!canRun)("an application account", () => {
  test("is opened beside the first, and its key calls only the Application API", async () => {
    await ada.go(`${account}/settings`);
    await ada.button("Open an application account").click();
    await ada.page.getByRole("dialog").getByRole("textbox").fill("My application");
    await ada.page.getByRole("dialog").getByRole("button", { name: /^Open/ }).click();
    await ada.page.waitForURL((url) => !url.pathname.includes(account));
    const application = /acct_\w+/.exec(ada.page.url())?.[0] ?? "";
    await ada.sees("My application");
    await ada.inspect("application-overview");
    await ada.go(`${application}/keys?new=key`);
    await ada.sees("Models API");
    await ada.field(/^Name/).fill("app");
    await ada.page.getByRole("dialog").getByRole("button", { name: "New key" }).click();
    const key = await ada.text(ada.page.getByLabel("The key", { exact: true }));
    expect(key).toMatch(/^svc_sk_/);
    const headers = { authorization: `Bearer ${key}` };
    const status = async (path: string) =>
      (await fetch(`${running.url}${path}`, { headers })).status;
    expect([await status("/api/v1/models"), await status("/v1/me")]).toEqual([200, 401]);
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("the page of a mailed link", () => {
  const pages = [
    ["verify", "verify#token=none"],
    ["verify-waiting", "verify?email=ada%40example.com"],
    ["link-broken", "link"],
    ["invitation", "invitation#token=none"],
    ["change-email", "change-email#token=none.ada%40example.org"],
  ] as const;

  test("can be read without a session, even if the link is incomplete", async () => {
    await using visitor = await stage.visitor();
    for (const [name, path] of pages) {
      await visitor.go(path);
      await visitor.inspect(name);
    }
    await visitor.go("verify#token=none");
    await visitor.button("Verify and continue").click();
    await visitor.sees("This link was used, has ended, or is not complete");
    expect(visitor.complaints).toEqual([]);
  });

  test("leaves no token in the address once it signed a person in", async () => {
    await using visitor = await stage.visitor();
    await visitor.page.goto(await stage.link("bob@example.com"));
    await visitor.button("Sign in").click();
    await visitor.page.waitForURL(/\/overview/);
    expect(visitor.page.url()).not.toContain("token");
  });
});
