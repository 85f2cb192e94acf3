// Sign-in with e-mail and password, or with a passkey.

import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { signIn } from "../api/auth.ts";
import { canUsePasskeys, signInByPasskey } from "../api/passkeys.ts";
import { useChange } from "../parts/ask.tsx";
import { TextField, useTyped } from "../parts/text-field.tsx";
import { t } from "../texts.ts";
import { EmailInput } from "./email-input.tsx";
import { EntryCard } from "./entry-card.tsx";
import {
  EntryForm,
  EntryRefusal,
  isOperatorPage,
  useAddressField,
  useEnter,
} from "./entry-form.tsx";
import { SsoButton } from "./sso.tsx";

export function SignIn() {
  const email = useTyped("email");
  const password = useTyped("password");
  const next = useAddressField("next");
  const enter = useEnter();
  const run = async () => await enter(await signIn({ email: email.text, password: password.text }));
  const foot = (
    <>
      <Link to="/code" search={{ next, email: email.text }} hash={true}>
        {t.entry.byCode}
      </Link>
      <Link to="/forgot">{t.entry.forgot}</Link>
      <Link to="/sign-up">{t.entry.toSignUp}</Link>
    </>
  );
  return (
    <EntryCard title={t.entry.signIn} foot={foot}>
      <EntryForm action={t.entry.signIn} run={run}>
        <EmailInput field={email} autoFocus />
        <TextField
          field={password}
          label={t.entry.password}
          name="password"
          autoComplete="current-password"
          required
        />
      </EntryForm>
      {canUsePasskeys() && <PasskeyButton enter={enter} />}
      {isOperatorPage(next) && <SsoButton returnTo={next} />}
    </EntryCard>
  );
}

interface PasskeyButtonProps {
  readonly enter: () => Promise<void>;
  /** True if the page offers nothing else. */
  readonly isMain?: boolean;
}

/** Signs in with a passkey of this device. */
export function PasskeyButton({ enter, isMain = false }: PasskeyButtonProps) {
  const change = useChange(async () => {
    await signInByPasskey();
    await enter();
  });
  return (
    <>
      <Button
        variant={isMain ? "filled" : "default"}
        fullWidth
        loading={change.busy}
        onClick={() => void change.start()}
      >
        {t.entry.byPasskey}
      </Button>
      <EntryRefusal error={change.error} />
    </>
  );
}
