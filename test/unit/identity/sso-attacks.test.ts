// Tests that the provider's answer is believed only if it belongs to this sign-in in this browser,
// is signed, is meant for us, and is not too old.

import { describe, expect, test } from "bun:test";
import { CLIENT_ID } from "../../support/fakes/oidc-issuer.ts";
import { shared } from "../../support/shared.ts";
import { operatorPage, SsoLab } from "./sso-lab.ts";

const EMAIL = "ops@example.com";
const WHO = { sub: "ops", email: EMAIL, amr: ["mfa"] };

const lab = await shared(SsoLab.start());
await lab.operator(EMAIL);
lab.issuer.somebody = { email_verified: true, ...WHO };

const visitor = () => lab.people.visitor();

describe("a token is refused that", () => {
  const CHANGES = {
    "has another nonce": ["nonce", { claims: { nonce: "another" } }],
    "has no nonce": ["nonce", { claims: { nonce: undefined } }],
    "is meant for somebody else": ["aud", { claims: { aud: "another" } }],
    "was given to somebody else": ["azp", { claims: { aud: [CLIENT_ID, "x"], azp: "x" } }],
    "comes from another issuer": ["iss", { claims: { iss: "https://evil.example" } }],
    "is too old": ["exp", { claims: { exp: 1_700_000_000 } }],
    "is not signed": ["alg", { header: { alg: "none" } }],
    "names an algorithm that uses our secret": ["alg", { header: { alg: "HS256" } }],
    "is signed by a stranger": ["signature", { byStranger: true }],
  } as const;

  test.each(Object.entries(CHANGES))("%s", async (_, [rule, change]) => {
    lab.issuer.change = change;
    const { visitor: who, answer } = await lab.signIn(WHO);
    lab.issuer.change = null;
    expect([answer.status, answer.body.error.code]).toEqual([403, "sso_refused"]);
    expect(answer.body.error.message).toContain(rule);
    expect(await who.isSignedIn()).toBe(false);
  });

  test("and the same way works without a change", async () => {
    const { visitor: who } = await lab.signIn(WHO);
    expect(await operatorPage(who)).toBe("open");
  });
});

describe("the answer that the browser brings back", () => {
  test("is refused with another state", async () => {
    const who = visitor();
    const query = new URLSearchParams(await lab.issuer.signIn(await lab.begin(who)));
    query.set("state", "another");
    const answer = await lab.finish(who, `?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([403, "sso_refused"]);
    expect(answer.body.error.message).toContain("state");
    expect(await who.isSignedIn()).toBe(false);
  });

  test("is refused from another issuer", async () => {
    const who = visitor();
    const query = new URLSearchParams(await lab.issuer.signIn(await lab.begin(who)));
    query.set("iss", "https://evil.example");
    const answer = await lab.finish(who, `?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([403, "sso_refused"]);
  });

  test("works once", async () => {
    const { visitor: who, query, answer } = await lab.signIn(WHO);
    expect(answer.status).toBe(200);
    const replayed = await lab.finish(who, query);
    expect([replayed.status, replayed.body.error.code]).toEqual([400, "sso_not_valid"]);
    // The code of one sign-in, used in another that has begun.
    const next = visitor();
    const wanted = new URL(await lab.begin(next)).searchParams;
    const mixed = new URLSearchParams(query);
    mixed.set("state", wanted.get("state") ?? "");
    const injected = await lab.finish(next, `?${mixed}`);
    expect([injected.status, injected.body.error.code]).toEqual([403, "sso_refused"]);
    expect(await next.isSignedIn()).toBe(false);
  });

  test("is refused in a browser that did not begin the sign-in", async () => {
    const attacker = visitor();
    const query = await lab.issuer.signIn(await lab.begin(attacker));
    const victim = visitor();
    const answer = await lab.finish(victim, query);
    expect([answer.status, answer.body.error.code]).toEqual([400, "sso_not_valid"]);
    expect(await victim.isSignedIn()).toBe(false);
    expect((await lab.finish(attacker, query)).status).toBe(200);
  });

  test("is refused in words if the provider refused", async () => {
    const who = visitor();
    const { searchParams } = new URL(await lab.begin(who));
    const state = searchParams.get("state") ?? "";
    const said = { error: "access_denied", error_description: "<b>no</b>", state };
    const refused = new URLSearchParams({ ...said, iss: lab.issuer.issuer.replace(/\/$/, "") });
    const answer = await lab.finish(who, `?${refused}`);
    expect([answer.status, answer.body.error.code]).toEqual([403, "sso_refused"]);
    expect(answer.body.error.message).toContain("access_denied");
    expect(answer.text).not.toContain("<b>");
    const text = new URLSearchParams(refused);
    const again = new URL(await lab.begin(who)).searchParams;
    text.set("state", again.get("state") ?? "");
    text.set("error", "Your account is locked: call 0900 1234");
    const worded = await lab.finish(who, `?${text}`);
    expect([worded.status, worded.text.includes("0900")]).toEqual([403, false]);
  });
});

test("the way back leads only to pages of operators, by our own address", async () => {
  for (const page of [
    "https://evil.example/operator",
    "//evil.example/operator",
    "/operator.evil.example",
    "/operatorx",
    "/operator\\@evil.example",
    "/operator /x",
    "/operator/../dashboard",
    "/operator/trail/..",
    "/operator/./trail",
    "/operator/%2e%2E/dashboard",
    "/operator/.%2e/dashboard?x",
    "/dashboard",
    "",
  ]) {
    const answer = await visitor().auth("/sign-in/sso/begin", { return_to: page });
    expect([page, answer.status, answer.body.error.code]).toEqual([page, 400, "invalid_parameter"]);
  }
  const who = visitor();
  const url = new URL(await lab.begin(who, "/operator/trail?account=acct_1"));
  expect(url.origin).toBe(new URL(lab.issuer.issuer).origin);
  expect(url.searchParams.get("redirect_uri")).toBe("http://127.0.0.1/dashboard/sso");
  expect(url.searchParams.get("code_challenge_method")).toBe("S256");
  const answer = await lab.finish(who, await lab.issuer.signIn(url.href));
  expect(answer.body.return_to).toBe("/operator/trail?account=acct_1");
});

test("a foreign page neither begins nor ends a sign-in", async () => {
  const headers = { origin: "https://evil.example" };
  for (const path of ["/sign-in/sso/begin", "/sign-in/sso"]) {
    const answer = await visitor().auth(path, { return_to: "/operator", query: "?x" }, headers);
    expect([path, answer.status, answer.body.error.code]).toEqual([path, 403, "foreign_origin"]);
  }
});

test("if the provider is away people read that, and the password still signs in", async () => {
  const who = visitor();
  const query = await lab.issuer.signIn(await lab.begin(who));
  lab.issuer.brokenStatus = 502;
  const answer = await lab.finish(who, query);
  lab.issuer.brokenStatus = null;
  expect([answer.status, answer.body.error.code]).toEqual([503, "sso_unavailable"]);
  expect(answer.body.error.message).toContain("or sign in with your password");
  expect((await who.signIn(EMAIL)).status).toBe(200);
});
