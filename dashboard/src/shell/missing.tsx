// An address that leads nowhere.

import { Link } from "@tanstack/react-router";
import { Empty } from "../parts/loaded.tsx";
import { Panel } from "../parts/panel.tsx";
import { t } from "../texts.ts";

export function Missing() {
  return (
    <Panel>
      <Empty title={t.states.missing}>
        <p>{t.states.missingAbout}</p>
        <Link to="/">{t.states.toOverview}</Link>
      </Empty>
    </Panel>
  );
}

/** The same as a page of its own, where no frame is around it. */
export function MissingPage() {
  return (
    <main className="entry">
      <Missing />
    </main>
  );
}
