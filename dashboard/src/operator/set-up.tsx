// Lets an operator without a second factor add a passkey or an app. In a session that cannot set up
// the first factor, the page says how to get the link for another session.

import { Button } from "@mantine/core";
import { useState } from "react";
import { canUsePasskeys } from "../api/passkeys.ts";
import { PasskeyButton } from "../entry/sign-in.tsx";
import { NeedsLink } from "../pages/settings/needs-link.tsx";
import { AddPasskey } from "../pages/settings/passkeys.tsx";
import { TwoFactorPanel } from "../pages/settings/two-factor-panel.tsx";
import { PageHead, Panel } from "../parts/panel.tsx";
import { useMe } from "../session.tsx";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";

export function SetUp() {
  const { person } = useMe();
  return (
    <div className="stack">
      <PageHead title={ot.setUp} about={ot.setUpAbout} />
      {person.second_factor === "needs_link" && (
        <Panel>
          <NeedsLink />
        </Panel>
      )}
      {person.second_factor === "off" && <FirstFactor />}
      {/* Only this session lacks the factor: it began, for example, before a passkey was added. */}
      {person.second_factor === "on" && canUsePasskeys() && <PasskeyButton enter={reload} />}
    </div>
  );
}

/** Asks the server again for the page: the passkey may have signed in somebody else. */
async function reload(): Promise<void> {
  window.location.reload();
}

/** Offers a passkey and an app, for a session that can set up the first factor. */
export function FirstFactor() {
  return (
    <>
      {canUsePasskeys() ? <Passkey /> : <p className="small">{t.people.passkeysImpossible}</p>}
      <TwoFactorPanel />
    </>
  );
}

function Passkey() {
  const [adding, setAdding] = useState(false);
  return (
    <Panel title={t.people.passkeys}>
      <div className="stack">
        <p className="small">{t.people.passkeysAbout}</p>
        <p className="small dim">{ot.setUpProof}</p>
        <div>
          <Button size="xs" onClick={() => setAdding(true)}>
            {t.people.addPasskey}
          </Button>
        </div>
      </div>
      {adding && <AddPasskey close={() => setAdding(false)} isProved />}
    </Panel>
  );
}
