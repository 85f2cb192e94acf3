// Says that there is no such page: to operators at an unknown address, and to all other people.

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
