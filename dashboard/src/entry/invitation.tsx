// An invitation to an account, accepted by the person with that inbox.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { acceptInvitation } from "../api/people.ts";
import { meQuery, queryClient } from "../api/queries.ts";
import { Failure, Placeholder } from "../parts/loaded.tsx";
import { t } from "../texts.ts";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useToken } from "./entry-form.tsx";

export function Invitation() {
  const token = useToken();
  const navigate = useNavigate();
  const me = useQuery({ ...meQuery, retry: false });
  if (token === "") {
    const foot = <Link to="/sign-in">{t.entry.toSignIn}</Link>;
    return <EntryCard title={t.entry.invitation} about={t.entry.brokenLink} foot={foot} />;
  }
  if (me.isPending) return <Placeholder height={200} />;
  if (me.data === undefined) return <SignInFirst token={token} error={me.error} />;
  const { email } = me.data.person;
  const run = async () => {
    const { account } = await acceptInvitation(token);
    await queryClient.invalidateQueries(meQuery);
    await navigate({ to: "/$account/overview", params: { account } });
  };
  return (
    <EntryCard title={t.entry.invitation} about={t.entry.invitationAbout(email)}>
      <EntryForm action={t.entry.accept} run={run} />
    </EntryCard>
  );
}

function SignInFirst({ token, error }: { readonly token: string; readonly error: Error }) {
  const navigate = useNavigate();
  const hash = new URLSearchParams({ token }).toString();
  const signIn = () => navigate({ to: "/sign-in", search: { next: "/invitation" }, hash });
  if (!("code" in error) || error.code !== "not_signed_in") return <Failure error={error} />;
  return (
    <EntryCard
      title={t.entry.invitation}
      about={t.entry.signInFirst}
      foot={<Link to="/sign-up">{t.entry.toSignUp}</Link>}
    >
      <Button onClick={() => void signIn()}>{t.entry.signIn}</Button>
    </EntryCard>
  );
}
