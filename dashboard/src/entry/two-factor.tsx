// Asks for the second factor at sign-in: a code of the app, a backup code, or a passkey. The page
// offers only the factors that the person has.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { verifyBackupCode, verifyTotp } from "../api/auth.ts";
import { canUsePasskeys } from "../api/passkeys.ts";
import { TextField, useTyped } from "../parts/text-field.tsx";
import { t } from "../texts.ts";
import { CodeInput } from "./code.tsx";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useAddressField, useEnter } from "./entry-form.tsx";
import { PasskeyButton } from "./sign-in.tsx";

export function TwoFactor() {
  const methods = useAddressField("by").split(" ");
  const hasPasskey = methods.includes("passkey");
  // An address without methods, such as a typed one, offers the methods that most people have.
  return hasPasskey && !methods.includes("totp") ? (
    <PasskeyAlone />
  ) : (
    <AppCode hasPasskey={hasPasskey} />
  );
}

function PasskeyAlone() {
  const enter = useEnter();
  const foot = <Link to="/sign-in">{t.entry.toSignIn}</Link>;
  return (
    <EntryCard title={t.entry.twoFactor} about={t.entry.passkeyDue} foot={foot}>
      {canUsePasskeys() ? (
        <PasskeyButton enter={enter} isMain />
      ) : (
        <p className="small">{t.people.passkeysImpossible}</p>
      )}
    </EntryCard>
  );
}

function AppCode({ hasPasskey }: { readonly hasPasskey: boolean }) {
  const [code, setCode] = useState("");
  const backupCode = useTyped("backupCode");
  const [isBackup, setBackup] = useState(false);
  const enter = useEnter();
  const run = async () => {
    await (isBackup ? verifyBackupCode(backupCode.text.trim()) : verifyTotp(code));
    await enter();
  };
  const change = () => {
    setCode("");
    backupCode.type("");
    setBackup(!isBackup);
  };
  const foot = (
    <>
      <button type="button" className="row-link link" onClick={change}>
        {isBackup ? t.entry.useApp : t.entry.useBackup}
      </button>
      <Link to="/sign-in">{t.entry.toSignIn}</Link>
    </>
  );
  const about = isBackup ? t.entry.backupAbout : t.entry.twoFactorAbout;
  return (
    <EntryCard title={t.entry.twoFactor} about={about} foot={foot}>
      <EntryForm action={t.actions.continue} run={run}>
        {isBackup ? (
          <TextField
            field={backupCode}
            label={t.entry.backupCode}
            required
            autoFocus
            autoComplete="off"
          />
        ) : (
          <CodeInput value={code} change={setCode} />
        )}
      </EntryForm>
      {hasPasskey && canUsePasskeys() && <PasskeyButton enter={enter} />}
    </EntryCard>
  );
}
