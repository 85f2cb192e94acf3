// The page of the mail that confirms a new address. A button confirms, as mail scanners open links.

import { Link, useNavigate } from "@tanstack/react-router";
import { confirmEmail } from "../api/people.ts";
import { meQuery, queryClient } from "../api/queries.ts";
import { say } from "../parts/ask.tsx";
import { t } from "../texts.ts";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useToken } from "./entry-form.tsx";

export function ChangeEmail() {
  const token = useToken();
  const navigate = useNavigate();
  const foot = <Link to="/">{t.states.toOverview}</Link>;
  // The token ends with the address, which the server binds to it.
  const [, email = ""] = /^[^.]+\.(.+)$/.exec(token) ?? [];
  if (email === "") {
    return <EntryCard title={t.people.email} about={t.entry.brokenLink} foot={foot} />;
  }
  const run = async () => {
    await confirmEmail(token);
    await queryClient.invalidateQueries(meQuery);
    say(t.people.emailChanged);
    await navigate({ to: "/" });
  };
  return (
    <EntryCard title={t.people.email} about={t.people.confirmEmailAbout(email)} foot={foot}>
      <EntryForm action={t.people.confirmEmail} run={run} />
    </EntryCard>
  );
}
