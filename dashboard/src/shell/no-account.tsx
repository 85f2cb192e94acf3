// What a person sees who belongs to no account.

import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { signOut } from "../api/auth.ts";
import { queryClient } from "../api/queries.ts";
import { EntryCard } from "../entry/entry-card.tsx";
import { t } from "../texts.ts";

export function NoAccount() {
  const navigate = useNavigate();
  const leave = async () => {
    await signOut();
    queryClient.clear();
    await navigate({ to: "/sign-in" });
  };
  return (
    <EntryCard title={t.states.noAccount} about={t.states.noAccountAbout}>
      <Button variant="default" onClick={() => void leave()}>
        {t.nav.signOut}
      </Button>
    </EntryCard>
  );
}
