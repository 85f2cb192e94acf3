// What everybody sees here who is no operator, and operators at an address that leads nowhere.

import { Empty } from "../parts/loaded.tsx";
import { Panel } from "../parts/panel.tsx";
import { ot } from "../texts/operator.ts";

export function NoSuchPage() {
  return (
    <Panel>
      <Empty title={ot.missing}>
        <p>{ot.missingAbout}</p>
        <a href="/dashboard">{ot.nav.toDashboard}</a>
      </Empty>
    </Panel>
  );
}
