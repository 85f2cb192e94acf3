// Sets a new password with the token of a mail.

import { PasswordInput } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { resetPassword } from "../api/auth.ts";
import { say } from "../parts/ask.tsx";
import { t } from "../texts.ts";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useToken } from "./entry-form.tsx";
import { PASSWORD_MIN } from "./password-rule.ts";

export function Reset() {
  const token = useToken();
  const [password, setPassword] = useState("");
  const navigate = useNavigate();
  if (token === "") {
    const foot = <Link to="/forgot">{t.entry.forgot}</Link>;
    return <EntryCard title={t.entry.reset} about={t.entry.brokenLink} foot={foot} />;
  }
  const run = async () => {
    await resetPassword(token, password);
    say(t.entry.resetDone);
    await navigate({ to: "/sign-in" });
  };
  return (
    <EntryCard title={t.entry.reset}>
      <EntryForm action={t.entry.resetAction} run={run}>
        <PasswordInput
          label={t.entry.newPassword}
          description={t.entry.passwordRule(PASSWORD_MIN)}
          autoComplete="new-password"
          minLength={PASSWORD_MIN}
          required
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      </EntryForm>
    </EntryCard>
  );
}
