// The people of an account: who belongs to it, invitations, roles, and what was done by whom.

import { ConsoleError } from "../core/console-errors.ts";
import { newToken } from "../core/console-tokens.ts";
import { ApiError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Role } from "../core/roles.ts";
import {
  type AccountContext,
  accountEndpoint,
  type PersonContext,
  personEndpoint,
  queryOf,
} from "../http/console-endpoint.ts";
import { jsonBody } from "../http/json-body.ts";
import { countAttempt } from "../identity/attempt-limits.ts";
import { emailOf } from "../identity/email-field.ts";
import type { AccountRow } from "../store/accounts.ts";
import { listActivity } from "../store/activity.ts";
import type { Database } from "../store/database.ts";
import {
  acceptInvitation,
  addInvitation,
  changeMember,
  listInvitations,
  listMembers,
  type MembershipProblem,
  withdrawInvitation,
} from "../store/memberships.ts";
import { noted } from "./noted.ts";
import type { OwnAccountsDeps } from "./own-accounts.ts";
import { AccountRef, Changed, Mailed, TokenBody } from "./people-schema.ts";
import {
  ACTIVITY_EXAMPLE,
  Activity,
  ActivityQuery,
  type ActivityReply,
  InvitationBody,
  RoleBody,
  TEAM_EXAMPLE,
  Team,
  type TeamReply,
} from "./team-schema.ts";

type Context = AccountContext<OwnAccountsDeps>;

const PATH = "/console/api/accounts/{account}";
const BODY_BYTES_MAX = 8 * 1_024;
const INVITATION_MS = 7 * 24 * 60 * 60 * 1_000;
const OK = { ok: true };

const team = accountEndpoint({
  id: "team",
  method: "GET",
  path: `${PATH}/team`,
  role: "viewer",
  summary: "List the people of an account and open invitations",
  reply: Team,
  examples: [{ summary: "Two people", reply: TEAM_EXAMPLE }],
  run: ({ deps, account, person }: Context) => {
    const { database, now } = deps.identity.services;
    return teamReply(database, account, { now: new Date(now()), personId: person.personId });
  },
});

/** Reads who belongs to an account; `personId` is the reader. */
export async function teamReply(
  database: Database,
  account: AccountRow,
  { now, personId }: { readonly now: Date; readonly personId: string },
): Promise<TeamReply> {
  const [members, invitations] = await Promise.all([
    listMembers(database, account),
    listInvitations(database, account, now),
  ]);
  return {
    members: members.map((member) => ({
      person_id: member.personId,
      email: member.email,
      name: member.name,
      role: member.role,
      is_you: member.personId === personId,
      joined_at: member.joinedAt.toISOString(),
    })),
    invitations: invitations.map((one) => ({
      id: one.id,
      email: one.email,
      role: one.role,
      invited_by: one.invitedBy,
      expires_at: one.expiresAt.toISOString(),
    })),
  };
}

const invite = accountEndpoint({
  id: "invite",
  method: "POST",
  path: `${PATH}/invitations`,
  role: "admin",
  summary: "Invite somebody by mail",
  body: jsonBody(InvitationBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Mailed,
  examples: [
    { summary: "A viewer", body: { email: "bob@example.com", role: "viewer" }, reply: OK },
  ],
  async run(context: Context, fields: { readonly email: string; readonly role: Role }) {
    const { deps, account, person, clientIp } = context;
    const { identity } = deps;
    const email = emailOf(fields.email);
    const { role } = fields;
    if (role === "owner" && context.role !== "owner") throw problem("owner_only");
    await countAttempt(identity, "invite", { clientIp, email: null });
    const { database, random } = identity.services;
    const token = newToken(random);
    const now = new Date(identity.now());
    const invitation = {
      id: newId("invitation", random),
      ...{ email, role, token, invitedBy: person.email },
      expiresAt: new Date(now.getTime() + INVITATION_MS),
    };
    const also = noted(context, "person_invited", `${email} as ${role}`);
    if ((await addInvitation(database, account, invitation, { now, also })) === "member") {
      throw new ConsoleError("already_member", `${email} belongs to this account already`);
    }
    const about = { invitedBy: person.email, account: account.name ?? account.id, role };
    const { proof } = await identity.mails.watch(() =>
      identity.mails.invitation(email, token, about),
    );
    return { ...OK, ...(identity.showsMails && proof !== null && { development: proof }) };
  },
});

const withdraw = accountEndpoint({
  id: "withdrawInvitation",
  method: "POST",
  path: `${PATH}/invitations/{invitation}/withdraw`,
  role: "admin",
  summary: "Withdraw an invitation; its link no longer works",
  reply: Changed,
  examples: [],
  async run(context: Context) {
    const { deps, account, params } = context;
    const { database, now } = deps.identity.services;
    const id = params.invitation ?? "";
    const which = { id, now: new Date(now()) };
    const done = await withdrawInvitation(database, account, which, (tx, email) =>
      noted(context, "invitation_withdrawn", email)(tx, account.number),
    );
    if (done) return OK;
    throw new ConsoleError("invitation_not_found", `There is no open invitation ${id}`);
  },
});

const accept = personEndpoint({
  id: "acceptInvitation",
  method: "POST",
  path: "/console/api/invitations/accept",
  summary: "Accept an invitation that was mailed to one's own address",
  body: jsonBody(TokenBody, { bytesMax: BODY_BYTES_MAX }),
  reply: AccountRef,
  examples: [],
  async run(context: PersonContext<OwnAccountsDeps>, { token }: { readonly token: string }) {
    const { deps, person, clientIp } = context;
    await countAttempt(deps.identity, "open_link", { clientIp, email: null });
    const { database, now } = deps.identity.services;
    const accepting = { token, person, now: new Date(now()) };
    const account = await acceptInvitation(database, accepting, (tx, number, role) =>
      noted(context, "person_joined", `${person.email} as ${role}`)(tx, number),
    );
    if (account !== null) return { id: account.id, account: account.id };
    throw new ConsoleError(
      "link_not_valid",
      "This invitation was used or withdrawn, has ended, or was sent to another address",
    );
  },
});

const changeRole = accountEndpoint({
  id: "changeRole",
  method: "POST",
  path: `${PATH}/members/{person}/role`,
  role: "admin",
  summary: "Give a person of the account another role; only owners make and change owners",
  body: jsonBody(RoleBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Changed,
  examples: [],
  run: (context: Context, { role }: { readonly role: Role }) =>
    change(context, { personId: context.params.person ?? "", role, by: context.role }),
});

const remove = accountEndpoint({
  id: "removeMember",
  method: "POST",
  path: `${PATH}/members/{person}/remove`,
  role: "admin",
  summary: "Remove a person from the account, at once; only owners remove owners",
  reply: Changed,
  examples: [],
  run: (context: Context) =>
    change(context, { personId: context.params.person ?? "", role: null, by: context.role }),
});

const leave = accountEndpoint({
  id: "leaveAccount",
  method: "POST",
  path: `${PATH}/leave`,
  role: "viewer",
  summary: "Leave the account; its last owner cannot",
  reply: Changed,
  examples: [],
  run: (context: Context) =>
    change(context, { personId: context.person.personId, role: null, by: null }),
});

async function change(
  context: Context,
  wish: { readonly personId: string; readonly role: Role | null; readonly by: Role | null },
): Promise<typeof OK> {
  const { deps, account } = context;
  const { role, by } = wish;
  const { database } = deps.identity.services;
  const action = role !== null ? "role_changed" : by === null ? "person_left" : "person_removed";
  const found = await changeMember(database, account, wish, (tx, email) => {
    const about = role === null ? email : `${email} is ${role}`;
    return noted(context, action, about)(tx, account.number);
  });
  if (found === null) return OK;
  throw problem(found);
}

const WORDS: Readonly<Record<MembershipProblem, string>> = {
  no_member: "The account has no such member",
  last_owner: "An account needs an owner: make somebody else an owner first",
  owner_only: "Only an owner may make, change or remove an owner",
};

function problem(found: MembershipProblem): ConsoleError {
  return new ConsoleError(found === "no_member" ? "person_not_found" : found, WORDS[found]);
}

const activity = accountEndpoint({
  id: "activity",
  method: "GET",
  path: `${PATH}/activity`,
  role: "owner",
  summary: "Who did what in the account",
  query: queryOf(ActivityQuery),
  reply: Activity,
  examples: [{ summary: "A new key", reply: ACTIVITY_EXAMPLE }],
  run: ({ deps, account }: Context, { before }: { readonly before?: string | null }) =>
    activityReply(deps.identity.services.database, account, before),
});

/** Reads a page of what people did to an account. @throws ApiError that names the field */
export async function activityReply(
  database: Database,
  account: AccountRow,
  before: string | null | undefined,
): Promise<ActivityReply> {
  const page = await listActivity(database, account.number, from(before));
  return {
    entries: page.entries.map(({ at, actor, action, about, country }) => ({
      at: at.toISOString(),
      ...{ actor, action, about, country },
    })),
    next: page.next === null ? null : String(page.next),
  };
}

function from(before: string | null | undefined): number | null {
  if (before === null || before === undefined) return null;
  if (/^\d{1,15}$/.test(before)) return Number(before);
  throw new ApiError("invalid_parameter", "before must be the `next` of a page", {
    param: "before",
  });
}

export const TEAM_ENDPOINTS = [
  team,
  invite,
  withdraw,
  accept,
  changeRole,
  remove,
  leave,
  activity,
] as const;
