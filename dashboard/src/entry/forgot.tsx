// Asks for a mail that leads to a new password.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { askForReset } from "../api/auth.ts";
import { useTyped } from "../parts/text-field.tsx";
import { t } from "../texts.ts";
import { EmailInput } from "./email-input.tsx";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm } from "./entry-form.tsx";
import { Mailed } from "./mailed.tsx";

export function Forgot() {
  const email = useTyped("email");
  const [sent, setSent] = useState<{ link?: string } | null>(null);
  const foot = <Link to="/sign-in">{t.entry.toSignIn}</Link>;
  if (sent !== null) {
    return (
      <EntryCard title={t.entry.checkInbox} about={t.entry.resetSent(email.text)} foot={foot}>
        <Mailed mailed={sent.link === undefined ? null : sent} />
      </EntryCard>
    );
  }
  const run = async () => {
    const { development } = await askForReset(email.text);
    setSent(development ?? {});
  };
  return (
    <EntryCard title={t.entry.forgot} about={t.entry.forgotAbout} foot={foot}>
      <EntryForm action={t.entry.sendLink} run={run}>
        <EmailInput field={email} autoFocus />
      </EntryForm>
    </EntryCard>
  );
}
