// Sets a new password with the token of a mail.

import { Link, useNavigate } from "@tanstack/react-router";
import { FORM_FIELDS } from "../../../src/core/text/form-fields.ts";
import { resetPassword } from "../api/auth.ts";
import { say } from "../parts/ask.tsx";
import { TextField, useTyped } from "../parts/text-field.tsx";
import { t } from "../texts.ts";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useToken } from "./entry-form.tsx";

export function Reset() {
  const token = useToken();
  const password = useTyped("newPassword");
  const navigate = useNavigate();
  if (token === "") {
    const foot = <Link to="/forgot">{t.entry.forgot}</Link>;
    return <EntryCard title={t.entry.reset} about={t.entry.brokenLink} foot={foot} />;
  }
  const run = async () => {
    await resetPassword(token, password.text);
    say(t.entry.resetDone);
    await navigate({ to: "/sign-in" });
  };
  return (
    <EntryCard title={t.entry.reset}>
      <EntryForm action={t.entry.resetAction} run={run}>
        <TextField
          field={password}
          label={t.entry.newPassword}
          about={t.entry.passwordRule(FORM_FIELDS.newPassword.charactersMin)}
          autoComplete="new-password"
          required
          autoFocus
        />
      </EntryForm>
    </EntryCard>
  );
}
