// The people of an account: roles, invitations, leaving.

import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { mayAct, ROLES, type Role } from "../../../../src/core/access/roles.ts";
import type { TeamReply } from "../../../../src/readings/team.ts";
import type { MailedReply } from "../../api/auth.ts";
import {
  changeRole,
  invite,
  leaveAccount,
  removeMember,
  withdrawInvitation,
} from "../../api/people.ts";
import { meQuery, outdateAccount, queryClient, teamQuery } from "../../api/queries.ts";
import { Mailed } from "../../entry/mailed.tsx";
import { Ask, Problem, say, useChange } from "../../parts/ask.tsx";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Form } from "../../parts/form.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Facts, PageHead, Panel } from "../../parts/panel.tsx";
import { RowButton } from "../../parts/row-button.tsx";
import { Table } from "../../parts/table.tsx";
import { TextField, useTyped } from "../../parts/text-field.tsx";
import { type Account, useAccount, useMe } from "../../session.tsx";
import { t } from "../../texts.ts";
import { day } from "../../time.ts";

type Member = TeamReply["members"][number];

/** The highest first. */
const ROLES_DOWN = ROLES.toReversed();

export function TeamPage() {
  const account = useAccount();
  const query = useQuery(teamQuery(account.id));
  const canInvite = mayAct(account.role, "admin");
  return (
    <>
      <PageHead title={t.nav.pages.team} about={t.people.teamAbout(account.name)} />
      <Loaded query={query} height={200}>
        {(team) => (
          <div className="panels">
            <Panel title={t.people.members}>
              <Members team={team} account={account} />
            </Panel>
            <div className="split" data-even="">
              <Panel title={t.people.invitations}>
                {canInvite ? (
                  <Invite account={account} />
                ) : (
                  <p className="small dim">{t.states.forbidden(account.role)}</p>
                )}
                <Invitations team={team} account={account} canChange={canInvite} />
              </Panel>
              <Panel title={t.people.roles}>
                <Facts
                  rows={ROLES_DOWN.map((role) => [t.nav.roles[role], t.people.roleAbout[role]])}
                />
              </Panel>
            </div>
          </div>
        )}
      </Loaded>
    </>
  );
}

/** The roles that somebody may give: an admin makes no owners. */
function rolesFor(own: Role): readonly Role[] {
  return own === "owner" ? ROLES_DOWN : ROLES_DOWN.filter((role) => role !== "owner");
}

interface TeamProps {
  readonly team: TeamReply;
  readonly account: Account;
}

function Members({ team, account }: TeamProps) {
  const [removing, setRemoving] = useState<Member | null>(null);
  const navigate = useNavigate();
  const canChange = mayAct(account.role, "admin");
  const choices = rolesFor(account.role);
  const isOurs = ({ role }: Member) => canChange && choices.includes(role);
  const columns: readonly Column<Member>[] = columnsOf(
    t.people.columns,
    {
      person: ({ name, email, is_you: isYou }) => (
        <>
          <span className="strong">{name}</span>
          {isYou && <span className="dim"> ({t.people.you})</span>}
          <div className="small dim">{email}</div>
        </>
      ),
      role: (member) =>
        isOurs(member) ? (
          <RoleChoice member={member} account={account.id} choices={choices} />
        ) : (
          t.nav.roles[member.role]
        ),
      since: ({ joined_at: at }) => <span className="nowrap">{day(at)}</span>,
    },
    {
      show: (member) =>
        (isOurs(member) || member.is_you) && (
          <RowButton
            {...(!member.is_you && { of: member.email })}
            onClick={() => setRemoving(member)}
          >
            {member.is_you ? t.people.leave : t.people.remove}
          </RowButton>
        ),
    },
  );
  const remove = async ({ person_id: person, is_you: isYou }: Member) => {
    if (!isYou) {
      await removeMember(account.id, person);
      await outdateAccount(account.id);
      return;
    }
    await leaveAccount(account.id);
    await queryClient.invalidateQueries(meQuery);
    await navigate({ to: "/" });
  };
  return (
    <>
      <Table columns={columns} rows={team.members} keyOf={({ person_id: id }) => id} />
      {removing !== null && (
        <Ask
          opened
          close={() => setRemoving(null)}
          title={removing.is_you ? t.people.leaveTitle : t.people.removeTitle(removing.email)}
          action={removing.is_you ? t.people.leave : t.people.remove}
          run={() => remove(removing)}
        >
          <p className="small">{removing.is_you ? t.people.leaveAbout : t.people.removeAbout}</p>
        </Ask>
      )}
    </>
  );
}

interface RoleChoiceProps {
  readonly member: Member;
  readonly account: string;
  readonly choices: readonly Role[];
}

function RoleChoice({ member, account, choices }: RoleChoiceProps) {
  // Only a choice is kept: the role itself may be changed elsewhere.
  const [choice, setChoice] = useState<Role | null>(null);
  const role = choice ?? member.role;
  const change = useChange(async () => {
    await changeRole(account, member.person_id, role);
    say(t.people.roleChanged(member.email));
    await outdateAccount(account);
    setChoice(null);
    await queryClient.invalidateQueries(meQuery);
  });
  return (
    <>
      <div className="row">
        <Select
          size="xs"
          w={120}
          aria-label={t.people.roleOf(member.email)}
          data={choices.map((one) => ({ value: one, label: t.nav.roles[one] }))}
          value={role}
          onChange={(next) => next !== null && setChoice(next)}
        />
        {role !== member.role && (
          <Button size="xs" loading={change.busy} onClick={() => void change.start()}>
            {t.actions.save}
          </Button>
        )}
      </div>
      <Problem error={change.error} />
    </>
  );
}

function Invite({ account }: { readonly account: Account }) {
  const { installation } = useMe();
  const email = useTyped("email");
  const [role, setRole] = useState<Role>("viewer");
  const [mailed, setMailed] = useState<MailedReply["development"] | null>(null);
  const change = useChange(async () => {
    const { development } = await invite(account.id, email.text.trim(), role);
    setMailed(development ?? null);
    const { invited, invitedUnmailed } = t.people;
    say((installation.mail_sink ? invitedUnmailed : invited)(email.text.trim()));
    email.type("");
    await outdateAccount(account.id);
  });
  return (
    <Form submit={change.start}>
      <div className="row invite">
        <TextField field={email} label={t.entry.email} required />
        <Select
          w={120}
          label={t.people.columns.role}
          data={rolesFor(account.role).map((one) => ({ value: one, label: t.nav.roles[one] }))}
          value={role}
          onChange={(next) => next !== null && setRole(next)}
        />
        <Button type="submit" loading={change.busy}>
          {t.people.invite}
        </Button>
      </div>
      <Mailed mailed={mailed ?? null} />
      <Problem error={change.error} />
    </Form>
  );
}

function Invitations({ team, account, canChange }: TeamProps & { readonly canChange: boolean }) {
  const [withdrawing, setWithdrawing] = useState<string | null>(null);
  if (team.invitations.length === 0) return <p className="small dim">{t.people.noInvitations}</p>;
  return (
    <ul className="plain-list">
      {team.invitations.map(({ id, email, role, expires_at: end, invited_by: by }) => (
        <li key={id} className="row" data-apart="">
          <span className="small">
            <span className="strong">{email}</span> · {t.nav.roles[role]}
            <div className="dim">{t.people.invitationFacts(by, day(end))}</div>
          </span>
          {canChange && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={t.pair(t.people.withdraw, email)}
              onClick={() => setWithdrawing(id)}
            >
              {t.people.withdraw}
            </Button>
          )}
        </li>
      ))}
      {withdrawing !== null && (
        <Ask
          opened
          close={() => setWithdrawing(null)}
          title={t.people.withdrawTitle}
          action={t.people.withdraw}
          run={async () => {
            await withdrawInvitation(account.id, withdrawing);
            await outdateAccount(account.id);
          }}
        >
          <p className="small">{t.people.withdrawAbout}</p>
        </Ask>
      )}
    </ul>
  );
}
