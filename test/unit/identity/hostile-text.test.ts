// Tests text that Postgres cannot store, and unreadable names: the console refuses both by the name
// of the field, before it changes or uses up anything.

import { describe, expect, test } from "bun:test";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, tokenOf, type Visitor } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());
const ada = await lab.person("ada@example.com");
const account = await ada.firstAccount();

const path = (rest: string) => `/console/api/accounts/${account}/${rest}`;

function toldOf({ status, body }: Awaited<ReturnType<Visitor["get"]>>) {
  return [status, body.error.code, body.error.message];
}

const nulRefusal = (field: string) => [
  400,
  "invalid_parameter",
  `${field} must not contain the character U+0000`,
];

describe("the character U+0000, which Postgres cannot store, is refused by its field", () => {
  test.each([
    ["account", "GET", "/console/api/accounts/%00/keys"],
    ["topup", "GET", "top-ups/%00"],
    ["invitation", "POST", "invitations/a%00b/withdraw"],
    ["person", "POST", "members/%00/remove"],
    ["key", "POST", "keys/%00/revoke"],
    ["session", "POST", "/console/api/me/sessions/%00/end"],
    ["passkey", "POST", "/console/api/me/passkeys/%00/remove"],
  ] as const)("in a path: %s", async (field, method, rest) => {
    const url = rest.startsWith("/") ? rest : path(rest);
    const told = method === "GET" ? await ada.get(url) : await ada.post(url);
    expect(toldOf(told)).toEqual(nulRefusal(field));
  });

  test.each(["model", "code"])("in a query: %s", async (field) => {
    expect(toldOf(await ada.get(path(`requests?${field}=%00`)))).toEqual(nulRefusal(field));
  });

  test("in a body, however deep", async () => {
    const token = "\0";
    const confirmed = await ada.post("/console/api/me/email/confirm", { token });
    expect(toldOf(confirmed)).toEqual(nulRefusal("token"));
    const key = { name: "a", scopes: ["models", "\0"] };
    expect(toldOf(await ada.post(path("keys"), key))).toEqual(nulRefusal("scopes[1]"));
    for (const link of ["/sign-in/link", "/sign-up/verify"]) {
      expect(toldOf(await lab.visitor().auth(link, { token }))).toEqual(nulRefusal("token"));
    }
    const odd = await ada.post(path("rename"), { "na\0me": "x" });
    expect(toldOf(odd).slice(0, 2)).toEqual([400, "invalid_parameter"]);
  });
});

describe("a name is one line", () => {
  const rule = (field: string, least: number) =>
    `${field} must have ${least} to 64 characters and no control characters`;

  test.each(["", " ", "a\nb", "\u0085", "a\u202eb", "a\u2067b", "a".repeat(65)])(
    "%j is none",
    async (name) => {
      const message = rule("name", 1);
      for (const url of ["/console/api/me/name", path("rename")]) {
        expect((await ada.post(url, { name })).body.error?.message).toBe(message);
      }
      const opened = await ada.post("/console/api/accounts", { surface: "application", name });
      expect(opened.body.error?.message).toBe(message);
    },
  );

  test("with spaces around it, it is stored without them", async () => {
    expect((await ada.post("/console/api/me/name", { name: " Ada L. " })).status).toBe(200);
    expect((await ada.get("/console/api/me")).body.person.name).toBe("Ada L.");
  });

  test("in a sign-up too, which is refused before a link or a code is used up", async () => {
    const visitor = lab.visitor();
    const order = { email: "eve@example.com", password: PASSWORD };
    for (const name of ["a\nb", "a".repeat(65)]) {
      const asked = await visitor.auth("/sign-up/email", { ...order, name });
      expect(asked.body.error?.message).toBe(rule("name", 0));
    }
    const sent = await visitor.auth("/email-otp/send-verification-otp", { email: order.email });
    const { code: otp } = sent.body.development;
    const entry = { email: order.email, otp };
    const told = await visitor.auth("/sign-in/email-otp", { ...entry, name: "a\0b" });
    expect(toldOf(told)).toEqual(nulRefusal("name"));
    expect((await visitor.auth("/sign-in/email-otp", { ...entry, name: "" })).status).toBe(200);
    expect(tokenOf(sent)).toBeNull();
  });
});
