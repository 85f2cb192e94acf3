// The address that a password belongs to, for password managers; nobody sees it.

import { useMe } from "../session.tsx";

export function Username() {
  const { person } = useMe();
  return <input type="text" autoComplete="username" value={person.email} readOnly hidden />;
}
