// Tests commands about people: links, operators, free credit, and the domain of mail footers.

import { expect, test } from "bun:test";
import { ensureMember, ensurePerson } from "../../../src/store/people/known-people.ts";
import { PeopleStore } from "../../../src/store/people/people.ts";
import { SsoLinks } from "../../../src/store/people/sso-links.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world, { CONSOLE_URL: "https://console.example.com" });
const plain = await cliOf(world);

function person(email: string) {
  return { email, name: "", isOperator: false, opensAccount: false };
}

test("operator invite makes an operator with a link, and operator remove ends it", async () => {
  const people = new PeopleStore(world.database);
  const invited = jsonOf(await cli("operator", "invite", "Root@Example.com", "--json"));
  expect(invited).toMatchObject({ email: "root@example.com", minutes: 15 });
  expect(invited.link).toStartWith(
    "https://console.example.com/dashboard/link?next=%2Foperator#token=",
  );
  expect((await people.findByEmail("root@example.com"))?.isOperator).toBe(true);
  expect((await cli("operator", "remove", "root@example.com")).code).toBe(0);
  expect((await people.findByEmail("root@example.com"))?.isOperator).toBe(false);
  const [row] = await world.database.sql`SELECT identifier FROM verifications`;
  expect(String(invited.link)).not.toContain(String(row?.identifier));
});

test("person link is for existing people, and needs the address of the dashboard", async () => {
  expect((await cli("person", "link", "root@example.com")).out).toContain("within 15 minutes");
  const unknown = await cli("person", "link", "nobody@example.com");
  expect(unknown.code).toBe(1);
  expect(unknown.err).toContain("No person has signed up with nobody@example.com");
  expect((await cli("person", "link", "nobody")).err).toContain("no email address");
  const lost = await cliOf(world);
  expect((await lost("person", "link", "root@example.com")).err).toContain("CONSOLE_URL");
  expect((await lost("operator", "invite", "later@example.com")).err).toContain("CONSOLE_URL");
  expect(await new PeopleStore(world.database).findByEmail("later@example.com")).toBeNull();
});

test("person email gives a new address and informs both, unless it is taken", async () => {
  const { database } = world;
  const people = new PeopleStore(database);
  await ensurePerson(database, person("lost@example.com"), { random, now: new Date() });
  await ensurePerson(database, person("taken@example.com"), { random, now: new Date() });
  const taken = await cli("person", "email", "lost@example.com", "taken@example.com");
  expect([taken.code, taken.err]).toEqual([1, expect.stringContaining("Somebody has")]);
  const answer = jsonOf(
    await cli("person", "email", "lost@example.com", "Found@example.com", "--json"),
  );
  expect(answer).toMatchObject({ email: "found@example.com", before: "lost@example.com" });
  expect(await people.findByEmail("lost@example.com")).toBeNull();
  expect(await people.findByEmail("found@example.com")).not.toBeNull();
  const told = await database.sql`SELECT recipient FROM outbox ORDER BY recipient`;
  expect(told.map(({ recipient }) => recipient)).toEqual(["found@example.com", "lost@example.com"]);
  expect((await cli("person", "email", "found@example.com", "nobody")).err).toContain("'nobody'");
});

test("the operator cannot give a person an address that could never sign in", async () => {
  await ensurePerson(world.database, person("able@example.com"), { random, now: new Date() });
  const account = jsonOf(await cli("account", "create", "--json"));
  const id = String(account.id);
  for (const bad of ["first&last@example.com", "joe@example.xn--p1ai"]) {
    const answers = [
      await cli("operator", "invite", bad),
      await cli("person", "email", "able@example.com", bad),
      await cli("team", "invite", id, bad),
    ];
    for (const { code, err } of answers) expect([code, err]).toEqual([2, naming(bad)]);
  }
  function naming(bad: string) {
    return expect.stringContaining(`'${bad}' is no email address: it m`);
  }
  // A person who has such an address from an earlier release gets another one.
  await ensurePerson(world.database, person("a&b@example.com"), { random, now: new Date() });
  expect((await cli("person", "link", "a&b@example.com")).code).toBe(0);
  expect((await cli("person", "email", "a&b@example.com", "ab@example.com")).code).toBe(0);
});

test("person account opens an account for applications that the person owns", async () => {
  const { database } = world;
  await ensurePerson(database, person("maker@example.com"), { random, now: new Date() });
  const opened = jsonOf(await cli("person", "account", "maker@example.com", "--json"));
  const shown = jsonOf(await cli("account", "show", String(opened.id), "--json"));
  expect(shown).toMatchObject({ surface: "application", email: "maker@example.com" });
  const people = new PeopleStore(database);
  const maker = await people.findByEmail("maker@example.com");
  const [own] = await people.accountsOf(maker?.id ?? "");
  expect(own).toMatchObject({ account: { id: opened.id }, role: "owner" });
  expect((await cli("person", "account", "nobody@example.com")).code).toBe(1);
});

test("model list has each model with its prices, and shows which is paused", async () => {
  const list = async () => jsonOf(await plain("model", "list", "--json"));
  expect(await list()).toMatchObject({ models: [{ id: "farebox-guide", is_paused: false }] });
  expect((await plain("service", "pause", "model:farebox-guide")).code).toBe(0);
  expect(await list()).toMatchObject({ models: [{ id: "farebox-guide", is_paused: true }] });
  expect((await plain("service", "resume", "model:farebox-guide")).code).toBe(0);
});

test("a pause of a model that no provider offers is stored, and reported as one", async () => {
  const paused = await plain("service", "pause", "model:farebox-guid");
  expect(paused).toMatchObject({ code: 0, out: "model:farebox-guid is paused.\n" });
  expect(paused.err).toContain("No model is called farebox-guid now");
  const known = await plain("service", "pause", "model:farebox-guide");
  expect([known.code, known.err]).toEqual([0, ""]);
  for (const name of ["farebox-guid", "farebox-guide"]) {
    expect((await plain("service", "resume", `model:${name}`)).err).toBe("");
  }
});

test("grant free gives free credit once, to an account that had none", async () => {
  const account = jsonOf(await cli("account", "create", "--json"));
  const again = await cli("grant", "free", String(account.id));
  expect(again.err).toContain("has had its free credit");
  const application = jsonOf(await cli("account", "create", "--surface", "application", "--json"));
  expect((await cli("grant", "free", String(application.id))).code).toBe(1);
  const { database } = world;
  await database.sql`
    INSERT INTO accounts (id, surface, bucket, sign_up_grant)
    VALUES ('acct_0000000000000000000001', 'gateway', 1, 'used_elsewhere')`;
  expect((await cli("grant", "free", "acct_0000000000000000000001")).code).toBe(0);
  expect((await cli("grant", "free", "acct_0000000000000000000001")).code).toBe(1);
  const row = await world.store.find("acct_0000000000000000000001");
  expect(row?.signUpGrant).toBe("granted");
});

test("account domain sets the name in the footer of the account's mail", async () => {
  const account = jsonOf(await cli("account", "create", "--email", "a@Example.org", "--json"));
  const id = String(account.id);
  expect((await world.store.find(id))?.mailDomain?.toLowerCase()).toBe("example.org");
  const done = await cli("account", "domain", id, "Bücher.test");
  expect([done.code, done.out]).toEqual([0, expect.stringContaining("xn--bcher-kva.test")]);
  expect((await world.store.find(id))?.mailDomain).toBe("xn--bcher-kva.test");
  expect((await cli("account", "domain", id, "no domain")).err).toContain("is no domain");
  expect((await cli("account", "domain", id, "none")).code).toBe(0);
  expect((await world.store.find(id))?.mailDomain).toBeNull();
});

test("account domain is refused to an application account, which has no mail", async () => {
  const made = await cli("account", "create", "--surface", "application", "--json");
  const id = String(jsonOf(made).id);
  for (const domain of ["example.org", "none"]) {
    const { code, err } = await cli("account", "domain", id, domain);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("application surface and has no mail"),
    ]);
  }
  expect((await world.store.find(id))?.mailDomain).toBeNull();
});

test("a person who is made a member is in the account's activity by the address", async () => {
  const { database } = world;
  const accountId = String(jsonOf(await cli("account", "create", "--json")).id);
  const now = new Date();
  const personId = await ensurePerson(database, person("joined@example.com"), { random, now });
  await ensureMember(database, { personId, accountId, role: "owner" }, now);
  const { entries } = jsonOf(await cli("account", "activity", accountId, "--json"));
  expect(entries[0]).toMatchObject({
    action: "person_joined",
    about: "joined@example.com as owner",
  });
});

test("team invite shows the link if the tool knows no mail server", async () => {
  const account = jsonOf(await cli("account", "create", "--json"));
  const id = String(account.id);
  const { out } = await cli("team", "invite", id, "fay@example.com", "--role", "admin");
  expect(out).toContain("fay@example.com is invited as admin");
  expect(out).toContain("MAIL_SMTP_URL is not set here");
  expect(out).not.toContain("on its way");
  expect(out).toContain("\nhttps://console.example.com/dashboard/invitation#token=");
  const invited = jsonOf(await cli("team", "invite", id, "gus@example.com", "--json"));
  expect(invited.link).toStartWith("https://console.example.com/dashboard/invitation#token=");
  const mails = { MAIL_SMTP_URL: "smtp://127.0.0.1:2525", MAIL_DOMAIN: "mail.example.com" };
  const env = { CONSOLE_URL: "https://console.example.com", ...mails };
  const mailing = await cliOf(world, env);
  const sent = await mailing("team", "invite", id, "hal@example.com");
  expect(sent.out).toContain("An invitation is on its way to hal@example.com, as viewer: ");
  expect(sent.out).not.toContain("#token=");
});

test("people of an account are listed, invited, given roles, removed as on the page", async () => {
  const account = jsonOf(await cli("account", "create", "--json"));
  const id = String(account.id);
  const row = await world.store.find(id);
  const now = new Date();
  const join = async (email: string, role: string) => {
    const wish = { email, name: "", isOperator: false, opensAccount: false };
    const person = await ensurePerson(world.database, wish, { random, now });
    await world.database.sql`
      INSERT INTO memberships (account, person, role)
      VALUES (${row?.number ?? 0}, ${person}, ${role})`;
  };
  await join("owner@example.com", "owner");
  await join("bob@example.com", "viewer");

  const invited = jsonOf(await cli("team", "invite", id, "Eve@Example.com", "--json"));
  expect(invited).toMatchObject({ email: "eve@example.com", role: "viewer" });
  const [mail] = await world.database.sql`
    SELECT kind, recipient FROM outbox ORDER BY created_at DESC LIMIT 1`;
  expect(mail).toMatchObject({ kind: "invitation", recipient: "eve@example.com" });
  expect((await cli("team", "invite", id, "bob@example.com")).err).toContain("belongs to");
  expect((await cli("team", "role", id, "bob@example.com", "admin")).code).toBe(0);
  const team = jsonOf(await cli("team", "list", id, "--json"));
  expect(team.members.map((one: { role: string }) => one.role)).toEqual(["owner", "admin"]);
  expect(team.invitations).toHaveLength(1);
  expect((await cli("team", "withdraw", id, invited.id)).code).toBe(0);
  expect((await cli("team", "withdraw", id, invited.id)).err).toContain("no open invitation");
  expect((await cli("team", "remove", id, "owner@example.com")).err).toContain("needs an owner");
  expect((await cli("team", "remove", id, "bob@example.com")).code).toBe(0);
  expect((await cli("team", "role", id, "no@example.com", "admin")).err).toContain("No person");
  expect((await cli("account", "rename", id, "--name", "Our shop")).code).toBe(0);
  expect((await world.store.find(id))?.name).toBe("Our shop");

  const { entries } = jsonOf(await cli("account", "activity", id, "--json"));
  expect(entries.map((one: { actor: string; action: string }) => [one.actor, one.action])).toEqual(
    [
      "account_renamed",
      "person_removed",
      "invitation_withdrawn",
      "role_changed",
      "person_invited",
      "account_opened",
    ].map((action) => ["operator", action]),
  );
});

test("the sessions, trust and passkeys of a person are ended", async () => {
  const email = "lost@example.com";
  const wish = { email, name: "", isOperator: false, opensAccount: false };
  const person = await ensurePerson(world.database, wish, { random, now: new Date() });
  for (const id of ["session_1", "session_2"]) {
    await world.database.sql`
      INSERT INTO sessions (id, token, person, expires_at)
      VALUES (${id}, ${id}, ${person}, now() + interval '1 day')`;
  }
  await world.database.sql`
    INSERT INTO passkeys (id, person, name, credential, public_key, counter, transports, created_at)
    VALUES ('passkey_1', ${person}, 'Laptop', 'c', 'k', 0, '', now())`;
  const trust = () => world.database.sql`
    INSERT INTO verifications (id, identifier, value, expires_at)
    VALUES ('trust', 'of a device', ${person}, now() + interval '1 day')`;
  const trusted = () => world.database.sql`SELECT id FROM verifications WHERE value = ${person}`;
  await trust();
  const one = jsonOf(await cli("person", "sessions", email, "--end", "session_1", "--json"));
  expect(one.sessions.map(({ id }: { id: string }) => id)).toEqual(["session_2"]);
  expect((await cli("person", "sessions", email, "--end", "session_1")).code).toBe(1);
  expect(await trusted()).toHaveLength(0);
  await trust();
  expect((await cli("person", "sessions", email, "--end", "all")).out).toContain("nowhere");
  expect(await trusted()).toHaveLength(0);
  expect((await cli("person", "passkeys", email)).out).toContain("Laptop");
  expect((await cli("person", "passkeys", email, "--remove", "passkey_1")).out).toContain("has no");
  expect((await cli("person", "passkeys", email, "--remove", "passkey_1")).code).toBe(1);
});

test("the link to single sign-on is listed, and removed with its sessions", async () => {
  const { database } = world;
  const email = "linked@example.com";
  const id = await ensurePerson(database, person(email), { random, now: new Date() });
  const issuer = "https://login.example.com/";
  const terms = { random, now: new Date() };
  await new SsoLinks(database).link(id, { issuer, subject: "sub-1" }, terms);
  for (const [session, by] of [
    ["session_sso", issuer],
    ["session_password", null],
  ] as const) {
    await database.sql`INSERT INTO sessions (id, token, person, expires_at, sso_issuer)
      VALUES (${session}, ${session}, ${id}, now() + interval '1 day', ${by})`;
  }
  const listed = jsonOf(await cli("person", "sso", email, "--json"));
  expect(listed.links).toMatchObject([{ issuer, subject: "sub-1" }]);
  const unlinked = await cli("person", "sso", email, "--unlink");
  expect([unlinked.code, unlinked.out]).toEqual([0, expect.stringContaining("linked to no")]);
  const sessions = jsonOf(await cli("person", "sessions", email, "--json")).sessions;
  expect(sessions.map((one: { id: string }) => one.id)).toEqual(["session_password"]);
  expect((await cli("person", "sso", "nobody@example.com")).code).toBe(1);
});
