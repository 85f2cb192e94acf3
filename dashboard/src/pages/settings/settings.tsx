// Settings of the person (profile, password, second factor, sessions) and of the account (name,
// activity, closing).

import { Button } from "@mantine/core";
import { mayAct } from "../../../../src/core/access/roles.ts";
import { FORM_FIELDS } from "../../../../src/core/text/form-fields.ts";
import { changePassword } from "../../api/auth.ts";
import { changeName, renameAccount } from "../../api/people.ts";
import { meQuery, queryClient } from "../../api/queries.ts";
import { Problem, say, useChange } from "../../parts/ask.tsx";
import { CurrentPassword, NoPassword } from "../../parts/current-password.tsx";
import { Form } from "../../parts/form.tsx";
import { PageHead, Panel } from "../../parts/panel.tsx";
import { TextField, useTyped } from "../../parts/text-field.tsx";
import { useAccount, useMe } from "../../session.tsx";
import { t } from "../../texts.ts";
import { ActivityPanel } from "./activity.tsx";
import { CloseAccount } from "./close-account.tsx";
import { EmailPanel } from "./email-panel.tsx";
import { NewAccount } from "./new-account.tsx";
import { PasskeysPanel } from "./passkeys.tsx";
import { Sessions } from "./sessions.tsx";
import { TwoFactorPanel } from "./two-factor-panel.tsx";

export function SettingsPage() {
  const account = useAccount();
  const { person } = useMe();
  const isAdmin = mayAct(account.role, "admin");
  return (
    <>
      <PageHead title={t.nav.pages.settings} about={person.email} />
      <div className="panels">
        <div className="split" data-even="">
          <OneField
            key={person.name}
            title={t.people.profile}
            label={t.entry.name}
            value={person.name}
            save={changeName}
          />
          {isAdmin ? (
            <OneField
              key={`${account.id} ${account.name}`}
              title={t.people.account}
              label={t.people.accountName}
              value={account.name}
              save={(name) => renameAccount(account.id, name)}
              about={account.id}
            />
          ) : (
            <Panel title={t.people.account}>
              <p>{account.name}</p>
              <p className="mono tiny dim">{account.id}</p>
              <p className="small dim">{t.states.forbidden(account.role)}</p>
            </Panel>
          )}
        </div>
        <div className="split" data-even="">
          <PasswordPanel />
          <TwoFactorPanel />
        </div>
        <div className="split" data-even="">
          <EmailPanel />
          <NewAccount />
        </div>
        <PasskeysPanel />
        <Sessions />
        {account.role === "owner" && <ActivityPanel account={account.id} />}
        <CloseAccount account={account} />
      </div>
    </>
  );
}

interface OneFieldProps {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly save: (value: string) => Promise<void>;
  readonly about?: string;
}

/** A panel with one field that can be saved. */
function OneField({ title, label, value, save, about }: OneFieldProps) {
  const field = useTyped("name", value);
  const change = useChange(async () => {
    await save(field.text.trim());
    await queryClient.invalidateQueries(meQuery);
    say(t.actions.saved);
  });
  return (
    <Panel title={title}>
      <Form submit={change.start}>
        <TextField field={field} label={label} required />
        {about !== undefined && <p className="mono tiny dim">{about}</p>}
        <Problem error={change.error} />
        <div>
          <Button
            type="submit"
            size="xs"
            variant="default"
            loading={change.busy}
            disabled={field.value === null || field.value === value}
          >
            {t.actions.save}
          </Button>
        </div>
      </Form>
    </Panel>
  );
}

function PasswordPanel() {
  const current = useTyped("password");
  const next = useTyped("newPassword");
  const change = useChange(async () => {
    await changePassword(current.text, next.text);
    current.type("");
    next.type("");
    say(t.people.passwordChanged);
    await queryClient.invalidateQueries({ queryKey: ["sessions"] });
  });
  return (
    <Panel title={t.entry.password}>
      <Form submit={change.start}>
        <CurrentPassword field={current} required />
        <NoPassword />
        <TextField
          field={next}
          label={t.entry.newPassword}
          about={t.people.passwordEnds(FORM_FIELDS.newPassword.charactersMin)}
          autoComplete="new-password"
          required
        />
        <Problem error={change.error} />
        <div>
          <Button type="submit" size="xs" variant="default" loading={change.busy}>
            {t.people.changePassword}
          </Button>
        </div>
      </Form>
    </Panel>
  );
}
