// Sign-in by a code that is sent to the inbox.

import { PinInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { FORM_FIELDS } from "../../../src/core/text/form-fields.ts";
import { sendCode, signInByCode } from "../api/auth.ts";
import { useTyped } from "../parts/text-field.tsx";
import { t } from "../texts.ts";
import { EmailInput } from "./email-input.tsx";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useAddressField, useEnter } from "./entry-form.tsx";
import { Mailed } from "./mailed.tsx";

export function SignInByCode() {
  const email = useTyped("email", useAddressField("email"));
  const [sent, setSent] = useState<{ code?: string } | null>(null);
  const [code, setCode] = useState("");
  const enter = useEnter();
  const ask = async () => {
    const { development } = await sendCode(email.text);
    setSent(development ?? {});
  };
  const use = async () => await enter(await signInByCode(email.text, code));
  const foot = <Link to="/sign-in">{t.entry.toSignIn}</Link>;
  if (sent === null) {
    return (
      <EntryCard title={t.entry.byCode} about={t.entry.byCodeAbout} foot={foot}>
        <EntryForm action={t.entry.sendCode} run={ask}>
          <EmailInput field={email} autoFocus />
        </EntryForm>
      </EntryCard>
    );
  }
  return (
    <EntryCard title={t.entry.enterCode} about={t.entry.enterCodeAbout(email.text)} foot={foot}>
      <EntryForm action={t.entry.signIn} run={use}>
        <CodeInput value={code} change={setCode} />
      </EntryForm>
      <Mailed mailed={sent.code === undefined ? null : sent} />
    </EntryCard>
  );
}

interface CodeInputProps {
  readonly value: string;
  readonly change: (code: string) => void;
}

/** Six digits, one box each; a pasted code fills them all. */
export function CodeInput({ value, change }: CodeInputProps) {
  return (
    <PinInput
      length={FORM_FIELDS.code.charactersMax}
      type="number"
      oneTimeCode
      autoFocus
      aria-label={t.entry.code}
      getInputProps={(index) => ({ "aria-label": t.entry.digit(index + 1) })}
      value={value}
      onChange={change}
    />
  );
}
