// Commands about the people of an account: members, invitations, roles, the account's name, and
// activity. The commands call the use cases of the console's pages, as the operator.

import { findAccount } from "../../accounts/administration.ts";
import { ROLES, type Role } from "../../core/access/roles.ts";
import { ConsoleError } from "../../core/console-errors.ts";
import { IdentityMails } from "../../identity/identity-mails.ts";
import {
  changeTeam,
  inviteToAccount,
  type TeamActor,
  type TeamDeps,
  withdrawFromAccount,
} from "../../identity/team-changes.ts";
import { teamReply } from "../../readings/team.ts";
import { loadMailConfig } from "../../settings/config.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { renameAccount } from "../../store/people/own-accounts.ts";
import { PeopleStore } from "../../store/people/people.ts";
import { brandOf } from "../brand.ts";
import { type Answer, type Command, type Input, UsageError } from "../command.ts";
import { noted } from "../noted.ts";
import { table } from "../print.ts";
import type { Stores } from "../stores.ts";
import { emailArgumentOf, idOf, nameAmong, nameOf, newEmailArgumentOf, wordOf } from "../values.ts";

interface Team {
  readonly account: AccountRow;
  readonly deps: TeamDeps & { readonly mails: IdentityMails };
  readonly by: TeamActor;
  readonly stores: Stores;
  /** True if the settings of the command line name a mail server. */
  readonly hasRelay: boolean;
}

/** Defines a command that changes the people of an account as the operator. */
function teamCommand(input: Input, run: (team: Team) => Promise<Answer>) {
  const id = idOf(input, "account");
  return async (stores: Stores): Promise<Answer> => {
    const { administration, database, random, consoleOrigin, environment } = stores;
    const account = await findAccount(administration, id);
    const { now } = administration;
    const { relay } = loadMailConfig(environment);
    const brand = await brandOf(stores);
    // Only an invitation has a link, which needs the address of the dashboard.
    const dashboard = `${consoleOrigin ?? ""}/dashboard`;
    const mails = new IdentityMails({ database, now, brand, dashboard });
    const byOperator: TeamActor["noted"] = (action, about) => noted({ now }, action, about);
    const by = {
      name: `The operator of ${brand().name}`,
      personId: null,
      role: "owner",
      noted: byOperator,
      alsoNoted: byOperator,
    } as const;
    const deps = { database, random, mails, now };
    return await run({ account, deps, by, stores, hasRelay: relay !== null });
  };
}

const list: Command = {
  name: "team list",
  positionals: ["ID"],
  summary: "List the people of an account, and open invitations",
  options: {},
  prepare: (input) =>
    teamCommand(input, async ({ account, deps: { database, now } }) => {
      const reply = await teamReply(database, account, { now: new Date(now()), personId: "" });
      const people = reply.members.map((one) => [one.email, one.role, `since ${one.joined_at}`]);
      const invited = reply.invitations.map((one) => [
        one.email,
        one.role,
        `invited until ${one.expires_at}`,
        one.id,
      ]);
      const text = table([...people, ...invited]);
      return { json: reply, text: text === "" ? "Nobody belongs to this account." : text };
    }),
};

/** The worker delivers mail, and its settings may differ from those of the command line. */
const NO_RELAY =
  "MAIL_SMTP_URL is not set here. Unless the worker has it, no mail arrives: hand on this link. " +
  "It works for seven days, for whoever signs in with that address:";

const invite: Command = {
  name: "team invite",
  positionals: ["ID", "EMAIL"],
  summary: "Invite somebody to an account by mail",
  options: { role: { value: ROLES.join("|"), help: "what they may do (viewer)" } },
  prepare(input) {
    const email = newEmailArgumentOf(input, 1);
    const role: Role = wordOf(input, "role", { words: ROLES, fallback: "viewer" });
    return teamCommand(input, async ({ account, deps, by, stores, hasRelay }) => {
      if (stores.consoleOrigin === null) {
        throw new UsageError(
          "CONSOLE_URL is not set: it is the origin where people open the dashboard",
        );
      }
      const { result: id, proof } = await deps.mails.watch(null, () =>
        inviteToAccount(deps, { account, by, email, role }),
      );
      if (hasRelay) {
        const text = `An invitation is on its way to ${email}, as ${role}: ${id}.`;
        return { json: { id, email, role }, text };
      }
      const link = proof?.link ?? "";
      const text = `${email} is invited as ${role}: ${id}. ${NO_RELAY}\n${link}`;
      return { json: { id, email, role, link }, text };
    });
  },
};

const withdraw: Command = {
  name: "team withdraw",
  positionals: ["ID", "INVITATION-ID"],
  summary: "Withdraw an invitation; its link no longer works",
  options: {},
  prepare(input) {
    const invitation = idOf(input, "invitation", 1);
    return teamCommand(input, async ({ account, deps, by }) => {
      await withdrawFromAccount(deps, { account, by, id: invitation });
      return { json: { id: invitation, withdrawn: true }, text: `${invitation} is withdrawn.` };
    });
  },
};

const role: Command = {
  name: "team role",
  positionals: ["ID", "EMAIL", ROLES.join("|")],
  summary: "Give a person of an account another role",
  options: {},
  prepare(input) {
    const email = emailArgumentOf(input, 1);
    const to = nameAmong(ROLES, input.positionals[2]);
    if (to === undefined) throw new UsageError(`The role must be one of ${ROLES.join(", ")}`);
    return teamCommand(input, async ({ account, deps, by }) => {
      const personId = await personOf(deps, email);
      await changeTeam(deps, { account, by, personId, role: to });
      return { json: { email, role: to }, text: `${email} is ${to} of ${account.id}.` };
    });
  },
};

const remove: Command = {
  name: "team remove",
  positionals: ["ID", "EMAIL"],
  summary: "Remove a person from an account, at once",
  options: {},
  prepare(input) {
    const email = emailArgumentOf(input, 1);
    return teamCommand(input, async ({ account, deps, by }) => {
      const personId = await personOf(deps, email);
      await changeTeam(deps, { account, by, personId, role: null });
      return { json: { email, removed: true }, text: `${email} is removed from ${account.id}.` };
    });
  },
};

async function personOf({ database }: TeamDeps, email: string): Promise<string> {
  const person = await new PeopleStore(database).findByEmail(email);
  if (person !== null) return person.id;
  throw new ConsoleError("person_not_found", `No person has signed up with ${email}`);
}

const rename: Command = {
  name: "account rename",
  positionals: ["ID"],
  summary: "Give an account another name",
  options: { name: { value: "N", help: "what its people call it", required: true } },
  prepare(input) {
    const name = nameOf(input, "name", "");
    if (name === "") throw new UsageError("--name must not be empty");
    return teamCommand(input, async ({ account, deps, by }) => {
      const named = { number: account.number, name };
      await renameAccount(deps.database, named, by.noted("account_renamed", name));
      return { json: { id: account.id, name }, text: `${account.id} is named ${name}.` };
    });
  },
};

export const teamCommands: readonly Command[] = [list, invite, withdraw, role, remove, rename];
