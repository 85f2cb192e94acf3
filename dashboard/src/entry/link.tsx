// A one-time sign-in link. A button uses it, because mail scanners and previews open links.

import { Link } from "@tanstack/react-router";
import { redeemLink } from "../api/auth.ts";
import { t } from "../texts.ts";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useEnter, useToken } from "./entry-form.tsx";

export function OneTimeLink() {
  const token = useToken();
  const enter = useEnter();
  const foot = <Link to="/sign-in">{t.entry.toSignIn}</Link>;
  if (token === "")
    return <EntryCard title={t.entry.link} about={t.entry.brokenLink} foot={foot} />;
  const run = async () => await enter(await redeemLink(token));
  return (
    <EntryCard title={t.entry.link} about={t.entry.linkAbout} foot={foot}>
      <EntryForm action={t.entry.signIn} run={run} />
    </EntryCard>
  );
}
