// Tests `farebox mail test` and the settings of mail.

import { beforeEach, expect, test } from "bun:test";
import { loadMailConfig } from "../../../src/settings/config.ts";
import { ScriptedSmtp, startTls } from "../../support/fakes/scripted-smtp.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);
const smtp = await shared(
  ScriptedSmtp.start({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) =>
      done(null, username === "u@x" && password === "p/w" ? { user: "u" } : undefined),
  }),
);
const untrusted = await shared(ScriptedSmtp.start(startTls()));
beforeEach(() => smtp.reset());

async function mailTest(url: string, ...more: readonly string[]) {
  const env = { MAIL_SMTP_URL: url, MAIL_DOMAIN: "mail.test", MAIL_TIMEOUT_SECONDS: "1" };
  const mailing = await cliOf(world, env);
  return await mailing("mail", "test", "--to", "ada@example.test", ...more);
}

test("mail test hands one message over and reports how", async () => {
  const plain = `${smtp.url}?tls=none`;
  const { code, out } = await mailTest(plain.replace("//", "//u%40x:p%2Fw@"));
  expect([code, out]).toEqual([0, expect.stringContaining("accepted the message, without TLS")]);
  const [mail] = await smtp.parsed();
  expect(mail?.from?.value[0]?.address).toBe("postmaster@mail.test");
  expect(smtp.accepted[0]?.to).toEqual(["ada@example.test"]);
  expect(jsonOf(await mailTest(plain, "--json"))).toMatchObject({ ok: true, encrypted: false });
});

test("a mail server on this machine is used with TLS whatever its certificate", async () => {
  const { code, out } = await mailTest(untrusted.url);
  expect([code, out]).toEqual([0, expect.stringContaining("accepted the message, over TLS")]);
});

test("mail test names the fault in words, and exits with 1", async () => {
  const url = `${smtp.url}?tls=none`;
  const wrong: readonly (readonly [url: string, words: string])[] = [
    [url.replace("//", "//u:wrong@"), "refused the user or the password"],
    [`${smtp.url}?tls=required`, "TLS failed"],
    [`${untrusted.url}?tls=required`, "TLS failed: the certificate is not trusted"],
    [smtp.url.replace("smtp:", "smtps:"), "TLS failed"],
    ["smtp://127.0.0.1:1?tls=none", "cannot be reached"],
    ["smtp://nowhere.invalid:25?tls=none", "the name of the server is not known"],
  ];
  for (const [given, words] of wrong) {
    const { code, err } = await mailTest(given);
    expect([code, err]).toEqual([1, expect.stringContaining(words)]);
    expect(err).not.toContain("wrong@");
  }
  smtp.script = { to: () => ({ code: 550, text: "relaying denied" }) };
  const { code, err } = await mailTest(url);
  expect([code, err]).toEqual([1, expect.stringContaining("550 relaying denied")]);
  const unset = await cli("mail", "test", "--to", "ada@example.test");
  expect([unset.code, unset.err]).toEqual([1, expect.stringContaining("MAIL_SMTP_URL is not set")]);
  const bad = await cli("mail", "test", "--to", "nobody");
  expect([bad.code, bad.err]).toEqual([2, expect.stringContaining("--to has no '@'")]);
});

test("wrong settings of mail are reported by name, without a password", () => {
  const wrong: readonly (readonly [env: Record<string, string>, told: string])[] = [
    [{ MAIL_DOMAIN: "a b" }, "MAIL_DOMAIN must be a domain"],
    [{ MAIL_SMTP_URL: "smtp://u:secret@x.test" }, "MAIL_DOMAIN is not set"],
    [{ MAIL_DOMAIN: "a.test", MAIL_SMTP_URL: "http://u:secret@x" }, "MAIL_SMTP_URL must be smtp:"],
    [{ MAIL_DOMAIN: "a.test", MAIL_SMTP_URL: "smtp://x?tls=maybe" }, "MAIL_SMTP_URL takes tls="],
    [{ MAIL_DOMAIN: "a.test", MAIL_SMTP_URL: "smtps://x?tls=none" }, "MAIL_SMTP_URL takes tls="],
    [
      { MAIL_DOMAIN: "a.test", MAIL_SMTP_URL: "smtp://u:secret@x.test?tls=optional" },
      "MAIL_SMTP_URL has a user, which tls=optional takes only for a server on this machine",
    ],
    [{ MAIL_DKIM_SELECTOR: "s1" }, "MAIL_DKIM_KEY_FILE is not set"],
    [{ MAIL_DKIM_SELECTOR: "s 1", MAIL_DKIM_KEY_FILE: "x" }, "MAIL_DKIM_SELECTOR must be"],
    [{ MAIL_DKIM_SELECTOR: "s1", MAIL_DKIM_KEY_FILE: "/none" }, "MAIL_DKIM_KEY_FILE names '/none'"],
    [{ MAIL_BOUNCE_PORT: "x" }, "MAIL_BOUNCE_PORT must be a whole number"],
    [{ MAIL_WAIT_SECONDS: "61" }, "MAIL_WAIT_SECONDS must be a whole number"],
  ];
  for (const [env, told] of wrong) {
    const load = () => loadMailConfig(env);
    expect(load).toThrow(told);
    expect(load).not.toThrow("secret");
  }
});

test("a relay on another machine gets nothing without TLS, unless the URL says so", () => {
  const tlsOf = (MAIL_SMTP_URL: string) =>
    loadMailConfig({ MAIL_DOMAIN: "Mail.Bücher.test", MAIL_SMTP_URL }).relay;
  expect(tlsOf("smtp://relay.test")).toMatchObject({ port: 587, tls: "required", user: null });
  expect(tlsOf("smtp://relay.test:25?tls=none")).toMatchObject({ port: 25, tls: "none" });
  expect(tlsOf("smtp://127.0.0.1:25")).toMatchObject({ tls: "optional" });
  expect(tlsOf("smtp://u:p@localhost:25")).toMatchObject({ tls: "optional", user: "u" });
  expect(tlsOf("smtps://u%40x:p%2Fw@relay.test")).toMatchObject({
    port: 465,
    tls: "implicit",
    user: "u@x",
    password: "p/w",
    name: "mail.xn--bcher-kva.test",
  });
  expect(loadMailConfig({})).toMatchObject({ domain: "farebox.invalid", relay: null });
});
