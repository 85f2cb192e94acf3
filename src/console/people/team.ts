// Changes the people of an account: invites, changes roles, removes people.

import { ROLES, type Role } from "../../core/access/roles.ts";
import { ConsoleError } from "../../core/console-errors.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type PersonContext,
  personEndpoint,
} from "../../http/console/console-endpoint.ts";
import { oneOf, Type, text } from "../../http/schema.ts";
import { countAttempt } from "../../identity/attempt-limits.ts";
import { emailOf } from "../../identity/email-field.ts";
import {
  changeTeam,
  inviteToAccount,
  type TeamActor,
  type TeamDeps,
  withdrawFromAccount,
} from "../../identity/team-changes.ts";
import { acceptInvitation } from "../../store/people/memberships.ts";
import { alsoNoted, noted } from "../noted.ts";
import type { OwnAccountsDeps } from "./own-accounts.ts";
import { Changed, CreatedAccount, Mailed, TokenBody } from "./people-schema.ts";

type OwnAccountsContext = AccountContext<OwnAccountsDeps>;

const PATH = "/console/api/accounts/{account}";
const BODY_BYTES_MAX = 8 * 1_024;
const CLOSED = { additionalProperties: false } as const;
const OK = { ok: true };

const InvitationBody = Type.Object({ email: text(), role: oneOf(ROLES) }, CLOSED);
const RoleBody = Type.Object({ role: oneOf(ROLES) }, CLOSED);

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
  async run(context: OwnAccountsContext, fields: { readonly email: string; readonly role: Role }) {
    const { deps, account, clientIp } = context;
    const { identity } = deps;
    const email = emailOf(fields.email);
    await countAttempt(identity, "invite", { clientIp, email, account: account.id });
    const { proof } = await identity.mails.watch(context.request.headers, () =>
      inviteToAccount(teamDeps(context), {
        account,
        by: byPerson(context),
        email,
        role: fields.role,
      }),
    );
    return { ...OK, ...identity.shown(context, proof) };
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
  async run(context: OwnAccountsContext) {
    const { account, params } = context;
    const id = params.invitation ?? "";
    await withdrawFromAccount(teamDeps(context), { account, by: byPerson(context), id });
    return OK;
  },
});

const accept = personEndpoint({
  id: "acceptInvitation",
  method: "POST",
  path: "/console/api/invitations/accept",
  summary: "Accept an invitation that was mailed to one's own address",
  body: jsonBody(TokenBody, { bytesMax: BODY_BYTES_MAX }),
  reply: CreatedAccount,
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
  run: (context: OwnAccountsContext, { role }: { readonly role: Role }) =>
    change(context, { personId: context.params.person ?? "", role }),
});

const remove = accountEndpoint({
  id: "removeMember",
  method: "POST",
  path: `${PATH}/members/{person}/remove`,
  role: "admin",
  summary: "Remove a person from the account, at once; only owners remove owners",
  reply: Changed,
  examples: [],
  run: (context: OwnAccountsContext) =>
    change(context, { personId: context.params.person ?? "", role: null }),
});

const leave = accountEndpoint({
  id: "leaveAccount",
  method: "POST",
  path: `${PATH}/leave`,
  role: "viewer",
  summary: "Leave the account; its last owner cannot",
  reply: Changed,
  examples: [],
  run: (context: OwnAccountsContext) =>
    change(context, { personId: context.person.personId, role: null, isOwn: true }),
});

async function change(
  context: OwnAccountsContext,
  wish: Omit<Parameters<typeof changeTeam>[1], "account" | "by">,
): Promise<typeof OK> {
  const { account } = context;
  await changeTeam(teamDeps(context), { ...wish, account, by: byPerson(context) });
  return OK;
}

function teamDeps({ deps }: OwnAccountsContext): TeamDeps {
  const { mails, services } = deps.identity;
  return { ...services, mails };
}

function byPerson(context: OwnAccountsContext): TeamActor {
  const { person, role } = context;
  return {
    name: person.email,
    personId: person.personId,
    role,
    noted: (action, about) => noted(context, action, about),
    alsoNoted: (action, about) => alsoNoted(context, action, about),
  };
}

export const TEAM_ENDPOINTS = [invite, withdraw, accept, changeRole, remove, leave] as const;
