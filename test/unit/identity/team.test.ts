// Tests the people of an account: invitations, roles, and that a change takes effect at once.

import { describe, expect, test } from "bun:test";
import { shared } from "../../support/shared.ts";
import { PeopleLab, tokenOf, type Visitor } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());
const ada = await lab.person("ada@example.com");
const account = await ada.firstAccount();

const path = (rest: string) => `/console/api/accounts/${account}/${rest}`;

async function join(email: string, role: string): Promise<Visitor> {
  const invited = await ada.post(path("invitations"), { email, role });
  const person = await lab.person(email);
  await person.post("/console/api/invitations/accept", { token: tokenOf(invited) });
  return person;
}

async function personIdOf(email: string): Promise<string> {
  const { members } = (await ada.get(path("team"))).body;
  return members.find((one: { email: string }) => one.email === email).person_id;
}

describe("an invitation", () => {
  test("is accepted only by its own inbox, once", async () => {
    const invited = await ada.post(path("invitations"), {
      email: "Bob@Example.com",
      role: "viewer",
    });
    const token = tokenOf(invited);
    const bob = await lab.person("bob@example.com");
    const mallory = await lab.person("mallory@example.com");
    const stolen = await mallory.post("/console/api/invitations/accept", { token });
    expect([stolen.status, stolen.body.error.code]).toEqual([400, "link_not_valid"]);
    expect((await bob.get(path("team"))).status).toBe(404);
    const accepted = await bob.post("/console/api/invitations/accept", { token });
    expect(accepted.body.account).toBe(account);
    expect((await bob.get(path("team"))).status).toBe(200);
    expect((await bob.post("/console/api/invitations/accept", { token })).status).toBe(400);
  });

  test("no longer works once it was withdrawn, and is stored only as a hash", async () => {
    const invited = await ada.post(path("invitations"), {
      email: "zoe@example.com",
      role: "admin",
    });
    const token = tokenOf(invited) ?? "";
    const [open] = (await ada.get(path("team"))).body.invitations;
    const { database } = lab.stores;
    const rows = await database.sql`SELECT id, email, token_hash FROM invitations`;
    expect(JSON.stringify(rows)).not.toContain(token);
    expect((await ada.post(path(`invitations/${open.id}/withdraw`))).status).toBe(200);
    const zoe = await lab.person("zoe@example.com");
    expect((await zoe.post("/console/api/invitations/accept", { token })).status).toBe(400);
  });
});

test("a person who is a member already keeps the role, and the trail says which", async () => {
  const member = await join("grace@example.com", "billing");
  const wish = { email: "grace@example.org", role: "viewer" };
  const token = tokenOf(await ada.post(path("invitations"), wish));
  const asked = await member.post("/console/api/me/email", { email: wish.email });
  await member.post("/console/api/me/email/confirm", { token: tokenOf(asked) });
  expect((await member.post("/console/api/invitations/accept", { token })).status).toBe(200);
  const { entries } = (await ada.get(path("activity"))).body;
  expect(entries[0]).toMatchObject({
    action: "person_joined",
    about: "grace@example.org as billing",
  });
});

describe("an invitation ends when its sender may no longer send it", () => {
  const accepted = async (email: string, token: string | null) => {
    const person = await lab.person(email);
    return (await person.post("/console/api/invitations/accept", { token })).status;
  };

  test("because they were removed, or have left, even under another address", async () => {
    for (const end of ["remove", "leave"]) {
      const admin = await join(`${end}@example.com`, "admin");
      const id = await personIdOf(`${end}@example.com`);
      const wish = { email: `back-${end}@example.com`, role: "admin" };
      const token = tokenOf(await admin.post(path("invitations"), wish));
      const asked = await admin.post("/console/api/me/email", { email: `${end}@example.org` });
      await admin.post("/console/api/me/email/confirm", { token: tokenOf(asked) });
      if (end === "leave") await admin.post(path("leave"));
      else await ada.post(path(`members/${id}/remove`));
      expect(await accepted(wish.email, token)).toBe(400);
      const { entries } = (await ada.get(path("activity"))).body;
      expect(entries[0]).toMatchObject({ action: "invitation_withdrawn", about: wish.email });
    }
  });

  test("because they got a lower role: an owner's invitations of owners end first", async () => {
    const owner = await join("once-owner@example.com", "owner");
    const id = await personIdOf("once-owner@example.com");
    const invite = async (email: string, role: string) =>
      tokenOf(await owner.post(path("invitations"), { email, role }));
    const asOwner = await invite("new-owner@example.com", "owner");
    const asViewer = await invite("new-viewer@example.com", "viewer");
    const late = await invite("late-viewer@example.com", "viewer");
    await ada.post(path(`members/${id}/role`), { role: "admin" });
    expect(await accepted("new-owner@example.com", asOwner)).toBe(400);
    expect(await accepted("new-viewer@example.com", asViewer)).toBe(200);
    await ada.post(path(`members/${id}/role`), { role: "billing" });
    expect(await accepted("late-viewer@example.com", late)).toBe(400);
  });
});

describe("roles", () => {
  test("a viewer changes nothing, and an admin makes no owners", async () => {
    const viewer = await join("viewer@example.com", "viewer");
    const admin = await join("admin@example.com", "admin");
    const body = { email: "new@example.com", role: "viewer" };
    expect((await viewer.post(path("invitations"), body)).status).toBe(403);
    expect((await viewer.post(path("rename"), { name: "Mine" })).status).toBe(403);
    expect((await viewer.get(path("activity"))).status).toBe(403);
    const owner = await admin.post(path("invitations"), { ...body, role: "owner" });
    expect([owner.status, owner.body.error.code]).toEqual([403, "owner_only"]);
    const adaId = await personIdOf("ada@example.com");
    expect((await admin.post(path(`members/${adaId}/remove`))).status).toBe(403);
    expect((await admin.post(path("close"))).status).toBe(403);
    expect((await admin.post(path("rename"), { name: "Ours" })).status).toBe(200);
  });

  test("a removed person loses access at once", async () => {
    const gone = await join("gone@example.com", "billing");
    expect((await gone.get(path("team"))).status).toBe(200);
    const id = await personIdOf("gone@example.com");
    expect((await ada.post(path(`members/${id}/remove`))).status).toBe(200);
    expect((await gone.get(path("team"))).status).toBe(404);
    expect((await ada.post(path(`members/${id}/remove`))).status).toBe(404);
  });

  test("an account keeps an owner, even if two leave at once", async () => {
    expect((await ada.post(path("leave"))).body.error.code).toBe("last_owner");
    const second = await join("second@example.com", "owner");
    const left = await Promise.all([ada.post(path("leave")), second.post(path("leave"))]);
    expect(left.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [kept, other] = left[0]?.status === 200 ? [second, ada] : [ada, second];
    expect((await other.get(path("team"))).status).toBe(404);
    const invited = await kept.post(path("invitations"), {
      email: kept === ada ? "second@example.com" : "ada@example.com",
      role: "owner",
    });
    await other.post("/console/api/invitations/accept", { token: tokenOf(invited) });
  });
});

test("owners see who made each change, recorded with it or not at all", async () => {
  const { entries } = (await ada.get(path("activity"))).body;
  const actions = entries.map(({ action }: { action: string }) => action);
  expect(actions).toContain("account_opened");
  expect(actions).toContain("person_removed");
  expect(actions).toContain("account_renamed");
  expect(entries[0].actor).toMatch(/@example\.com$/);
});

test("a person opens one account for applications, and closes it with the password", async () => {
  const eve = await lab.person("eve@example.com");
  const opened = await eve.post("/console/api/accounts", {
    surface: "application",
    name: "My app",
  });
  expect(opened.status).toBe(200);
  const { id } = opened.body;
  const twice = await eve.post("/console/api/accounts", { surface: "application", name: "More" });
  expect(twice.body.error.code).toBe("too_many_accounts");
  await lab.stores.database.sql`UPDATE sessions SET proved_at = now() - interval '6 minutes'`;
  const early = await eve.post(`/console/api/accounts/${id}/close`);
  expect([early.status, early.body.error.code]).toEqual([403, "sign_in_again"]);
  expect((await eve.post("/console/api/me/prove", { password: "wrong password" })).status).toBe(
    403,
  );
  const { password } = { password: "a good long password" };
  expect((await eve.post("/console/api/me/prove", { password })).status).toBe(200);
  expect((await eve.post(`/console/api/accounts/${id}/close`)).status).toBe(200);
  const me = (await eve.get("/console/api/me")).body;
  expect(me.accounts.map(({ state }: { state: string }) => state)).toEqual(["active", "closed"]);
  // A closed account hinders no new one, and its allowance is not given again.
  const next = await eve.post("/console/api/accounts", { surface: "application", name: "Next" });
  expect(next.status).toBe(200);
  const { sql } = lab.stores.database;
  const [row] = await sql`SELECT sign_up_grant FROM accounts WHERE id = ${next.body.id}`;
  expect(row?.sign_up_grant).toBe("used_elsewhere");
});

test("sessions are listed and ended one by one or together", async () => {
  const first = await lab.person("sam@example.com");
  const second = lab.visitor();
  const third = lab.visitor();
  await second.signIn("sam@example.com");
  await third.signIn("sam@example.com");
  const { sessions } = (await first.get("/console/api/me/sessions")).body;
  expect(sessions).toHaveLength(3);
  const other = sessions.find((one: { is_this: boolean }) => !one.is_this);
  expect((await ada.post(`/console/api/me/sessions/${other.id}/end`)).status).toBe(404);
  expect((await first.post(`/console/api/me/sessions/${other.id}/end`)).status).toBe(200);
  expect((await first.get("/console/api/me/sessions")).body.sessions).toHaveLength(2);
  await first.post("/console/api/me/end-other-sessions");
  expect(await first.isSignedIn()).toBe(true);
  expect(await second.isSignedIn()).toBe(false);
  expect(await third.isSignedIn()).toBe(false);
});

test("an address is changed by the owner of the new inbox, and only by the person", async () => {
  const kim = await lab.person("kim@example.com");
  const asked = await kim.post("/console/api/me/email", { email: "kim@example.org" });
  const token = tokenOf(asked);
  expect((await ada.post("/console/api/me/email/confirm", { token })).status).toBe(400);
  const again = tokenOf(await kim.post("/console/api/me/email", { email: "kim@example.org" }));
  const done = await kim.post("/console/api/me/email/confirm", { token: again });
  expect(done.body).toEqual({ email: "kim@example.org" });
  expect((await lab.visitor().signIn("kim@example.org")).status).toBe(200);
  expect((await lab.visitor().signIn("kim@example.com")).status).toBe(401);
});

test("of two who take the same address at once, one has it, and the other is refused", async () => {
  for (let round = 0; round < 3; round += 1) {
    const address = `wanted${round}@example.com`;
    const people = [
      await lab.person(`left${round}@example.com`),
      await lab.person(`right${round}@example.com`),
    ];
    const tokens: (string | null)[] = [];
    for (const one of people)
      tokens.push(tokenOf(await one.post("/console/api/me/email", { email: address })));
    const answers = await Promise.all(
      people.map((one, index) =>
        one.post("/console/api/me/email/confirm", { token: tokens[index] }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  }
});
