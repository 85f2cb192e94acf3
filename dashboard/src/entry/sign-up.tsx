// Sign-up: name, e-mail, password. The account is made once the inbox is verified.

import { PasswordInput, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { signUp } from "../api/auth.ts";
import { t } from "../texts.ts";
import { EmailInput } from "./email-input.tsx";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useField } from "./entry-form.tsx";
import { Mailed } from "./mailed.tsx";
import { PASSWORD_MIN } from "./password-rule.ts";

export function SignUp() {
  const [name, setName] = useState("");
  const [email, setEmail] = useState(useField("email"));
  const [password, setPassword] = useState("");
  const [sent, setSent] = useState<{ link?: string } | null>(null);
  const run = async () => {
    const { development } = await signUp({ name, email, password });
    setSent(development ?? {});
  };
  const foot = <Link to="/sign-in">{t.entry.toSignIn}</Link>;
  if (sent !== null) {
    return (
      <EntryCard title={t.entry.checkInbox} about={t.entry.checkInboxAbout(email)} foot={foot}>
        <p className="small">{t.entry.noMail}</p>
        <Mailed mailed={sent.link === undefined ? null : sent} />
      </EntryCard>
    );
  }
  return (
    <EntryCard title={t.entry.signUp} about={t.entry.signUpAbout} foot={foot}>
      <EntryForm action={t.entry.signUp} run={run}>
        <TextInput
          label={t.entry.name}
          name="name"
          autoComplete="name"
          required
          autoFocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <EmailInput value={email} change={setEmail} />
        <PasswordInput
          label={t.entry.password}
          description={t.entry.passwordRule(PASSWORD_MIN)}
          name="password"
          autoComplete="new-password"
          minLength={PASSWORD_MIN}
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      </EntryForm>
    </EntryCard>
  );
}
