// Sign-up: name, e-mail, password. The account is made once the inbox is verified.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { FORM_FIELDS } from "../../../src/core/text/form-fields.ts";
import { signUp } from "../api/auth.ts";
import { TextField, useTyped } from "../parts/text-field.tsx";
import { t } from "../texts.ts";
import { EmailInput } from "./email-input.tsx";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useAddressField } from "./entry-form.tsx";
import { Mailed } from "./mailed.tsx";

export function SignUp() {
  const name = useTyped("name");
  const email = useTyped("email", useAddressField("email"));
  const password = useTyped("newPassword");
  const [sent, setSent] = useState<{ link?: string } | null>(null);
  const run = async () => {
    const { development } = await signUp({
      name: name.text,
      email: email.text,
      password: password.text,
    });
    setSent(development ?? {});
  };
  const foot = <Link to="/sign-in">{t.entry.toSignIn}</Link>;
  if (sent !== null) {
    return (
      <EntryCard title={t.entry.checkInbox} about={t.entry.checkInboxAbout(email.text)} foot={foot}>
        <p className="small">{t.entry.noMail}</p>
        <Mailed mailed={sent.link === undefined ? null : sent} />
      </EntryCard>
    );
  }
  return (
    <EntryCard title={t.entry.signUp} about={t.entry.signUpAbout} foot={foot}>
      <EntryForm action={t.entry.signUp} run={run}>
        <TextField
          field={name}
          label={t.entry.name}
          name="name"
          autoComplete="name"
          required
          autoFocus
        />
        <EmailInput field={email} />
        <TextField
          field={password}
          label={t.entry.password}
          about={t.entry.passwordRule(FORM_FIELDS.newPassword.charactersMin)}
          name="password"
          autoComplete="new-password"
          required
        />
      </EntryForm>
    </EntryCard>
  );
}
