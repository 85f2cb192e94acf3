// Commands about people: links, operators, free credit, and the domain of mail footers.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { PeopleStore } from "../../src/store/people.ts";
import { openWorld, type World } from "../support/world.ts";
import { type Cli, cliOf, jsonOf } from "./run-cli.ts";

setDefaultTimeout(60_000);

let world: World;
let cli: Cli;

beforeAll(async () => {
  world = await openWorld();
  cli = await cliOf(world, { CONSOLE_URL: "https://console.example.com" });
});

afterAll(() => world[Symbol.asyncDispose]());

test("operator invite makes an operator with a link, and operator remove ends it", async () => {
  const people = new PeopleStore(world.database);
  const invited = jsonOf(await cli("operator", "invite", "Root@Example.com", "--json"));
  expect(invited).toMatchObject({ email: "root@example.com", minutes: 15 });
  expect(invited.link).toStartWith("https://console.example.com/dashboard/link#token=");
  expect((await people.findByEmail("root@example.com"))?.isOperator).toBe(true);
  expect((await cli("operator", "remove", "root@example.com")).code).toBe(0);
  expect((await people.findByEmail("root@example.com"))?.isOperator).toBe(false);
  const [row] = await world.database.sql`SELECT identifier FROM verifications`;
  expect(String(invited.link)).not.toContain(String(row?.identifier));
});

test("person link is for people who exist, and needs the address of the dashboard", async () => {
  expect((await cli("person", "link", "root@example.com")).out).toContain("within 15 minutes");
  const unknown = await cli("person", "link", "nobody@example.com");
  expect(unknown.code).toBe(1);
  expect(unknown.err).toContain("No person has signed up with nobody@example.com");
  expect((await cli("person", "link", "nobody")).err).toContain("no email address");
  const lost = await cliOf(world);
  expect((await lost("person", "link", "root@example.com")).err).toContain("CONSOLE_URL");
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

test("account domain sets what the footer of the account's mail names", async () => {
  const account = jsonOf(await cli("account", "create", "--email", "a@Example.org", "--json"));
  const id = String(account.id);
  expect((await world.store.find(id))?.mailDomain?.toLowerCase()).toBe("example.org");
  expect((await cli("account", "domain", id, "Bücher.test")).code).toBe(0);
  expect((await world.store.find(id))?.mailDomain).toBe("xn--bcher-kva.test");
  expect((await cli("account", "domain", id, "no domain")).err).toContain("is no domain");
  expect((await cli("account", "domain", id, "none")).code).toBe(0);
  expect((await world.store.find(id))?.mailDomain).toBeNull();
});
