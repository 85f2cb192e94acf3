// The page of a person without an account.

import { Button } from "@mantine/core";
import { EntryCard } from "../entry/entry-card.tsx";
import { t } from "../texts.ts";
import { leave } from "./leave.ts";

export function NoAccount() {
  return (
    <EntryCard title={t.states.noAccount} about={t.states.noAccountAbout}>
      <Button variant="default" onClick={() => void leave()}>
        {t.nav.signOut}
      </Button>
    </EntryCard>
  );
}
