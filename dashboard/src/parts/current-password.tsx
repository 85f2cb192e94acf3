// The password of the signed-in person, with the address that it belongs to for password managers.

import { useMe } from "../session.tsx";
import { t } from "../texts.ts";
import { TextField, type Typed } from "./text-field.tsx";

interface CurrentPasswordProps {
  readonly field: Typed;
  readonly required?: boolean;
  /** True if a question opens with it. */
  readonly isFirst?: boolean;
}

export function CurrentPassword(props: CurrentPasswordProps) {
  const { person } = useMe();
  return (
    <>
      <input type="text" autoComplete="username" value={person.email} readOnly hidden />
      <TextField {...props} label={t.people.currentPassword} autoComplete="current-password" />
    </>
  );
}

/** The way on for people without a password, who signed up by a code or were invited. */
export function NoPassword() {
  return (
    <a className="small" href="/dashboard/forgot">
      {t.people.noPassword}
    </a>
  );
}
