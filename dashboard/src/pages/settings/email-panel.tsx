// The address that a person signs in with, and changing it.

import { Button } from "@mantine/core";
import { useState } from "react";
import type { MailedReply } from "../../api/auth.ts";
import { askForEmail } from "../../api/people.ts";
import { Mailed } from "../../entry/mailed.tsx";
import { Ask } from "../../parts/ask.tsx";
import { Notice, Panel } from "../../parts/panel.tsx";
import { ProofFields, useProof } from "../../parts/proof-fields.tsx";
import { TextField, useTyped } from "../../parts/text-field.tsx";
import { useMe } from "../../session.tsx";
import { t } from "../../texts.ts";

export function EmailPanel() {
  const { person } = useMe();
  const [asking, setAsking] = useState(false);
  const email = useTyped("email");
  const { proof, setProof, give } = useProof();
  const [sent, setSent] = useState<MailedReply | null>(null);
  const run = async () => {
    if (proof === null) return;
    await give();
    setSent(await askForEmail(email.text.trim()));
    setProof(null);
  };
  return (
    <Panel title={t.people.email}>
      <div className="stack">
        <p className="small">{person.email}</p>
        {sent !== null && <Notice tone="paid">{t.people.emailSent(email.text.trim())}</Notice>}
        <Mailed mailed={sent?.development ?? null} />
        {person.second_factor === "needs_link" ? (
          <p className="small dim">{t.people.emailNeedsFactor}</p>
        ) : (
          <div>
            <Button size="xs" variant="default" onClick={() => setAsking(true)}>
              {t.people.changeEmail}
            </Button>
          </div>
        )}
      </div>
      <Ask
        opened={asking}
        close={() => setAsking(false)}
        title={t.people.changeEmail}
        action={t.actions.continue}
        run={run}
        disabled={email.value === null || proof === null}
        calm
      >
        <p className="small">{t.people.emailAbout}</p>
        <TextField field={email} isFirst label={t.people.newEmail} autoComplete="off" />
        <ProofFields change={setProof} />
      </Ask>
    </Panel>
  );
}
