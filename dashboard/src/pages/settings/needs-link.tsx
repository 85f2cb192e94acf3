// What an operator reads who has no second factor, in a session that may not set one up.

import { Code } from "../../parts/code.tsx";
import { useMe } from "../../session.tsx";
import { t } from "../../texts.ts";

/** How an operator gets the link whose session may set up the first second factor. */
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
