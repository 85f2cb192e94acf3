// Tells an operator how to get the link that opens a session for setting up a second factor.

import { Code } from "../../parts/code.tsx";
import { useMe } from "../../session.tsx";
import { t } from "../../texts.ts";

/** For operators without a second factor, in a session that cannot set up the first one. */
export function NeedsLink() {
  const { person } = useMe();
  return (
    <div className="stack">
      <p className="small">{t.people.needsLink}</p>
      <p className="small">{t.people.needsLinkAbout}</p>
      <Code text={`farebox operator invite ${person.email}`} label={t.people.linkCommand} wrap />
    </div>
  );
}
