// What an operator without a second factor sees: a passkey, or else codes of an app.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { canUsePasskeys, signInByPasskey } from "../api/passkeys.ts";
import { Refusal } from "../entry/entry-form.tsx";
import { AddPasskey, passkeysQuery } from "../pages/settings/passkeys.tsx";
import { TwoFactorPanel } from "../pages/settings/two-factor-panel.tsx";
import { useChange } from "../parts/ask.tsx";
import { PageHead, Panel } from "../parts/panel.tsx";
import { useMe } from "../session.tsx";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";

export function SetUp() {
  const { person } = useMe();
  // A passkey begins a session of its own, which is none of the provider.
  const mayUsePasskeys = !person.is_by_sso;
  return (
    <div className="stack">
      <PageHead title={ot.setUp} about={ot.setUpAbout} />
      {mayUsePasskeys &&
        (canUsePasskeys() ? <Passkey /> : <p className="small">{t.people.passkeysImpossible}</p>)}
      <TwoFactorPanel />
    </div>
  );
}

function Passkey() {
  const { data } = useQuery(passkeysQuery);
  const [adding, setAdding] = useState(false);
  const entering = useChange(async () => {
    await signInByPasskey();
    // The device may have signed in somebody else, who is shown nothing of this page.
    window.location.reload();
  });
  const hasOne = data !== undefined && data.passkeys.length > 0;
  return (
    <Panel title={t.people.passkeys}>
      <div className="stack">
        <p className="small">{t.people.passkeysAbout}</p>
        <p className="small dim">{ot.setUpProof}</p>
        <div className="row">
          {hasOne && (
            <Button size="xs" loading={entering.busy} onClick={() => void entering.start()}>
              {t.entry.byPasskey}
            </Button>
          )}
          <Button size="xs" {...(hasOne && { variant: "default" })} onClick={() => setAdding(true)}>
            {t.people.addPasskey}
          </Button>
        </div>
        <Refusal error={entering.error} />
      </div>
      {adding && <AddPasskey close={() => setAdding(false)} isProved added={entering.start} />}
    </Panel>
  );
}
