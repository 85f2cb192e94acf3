// The page of a verification mail. A button verifies, because mail scanners open links; without a
// token the page says that a mail is under way.

import { Link } from "@tanstack/react-router";
import { sendVerification, verifyEmail } from "../api/auth.ts";
import { say, useChange } from "../parts/ask.tsx";
import { t } from "../texts.ts";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useEnter, useField } from "./entry-form.tsx";

export function Verify() {
  const token = useField("token");
  const enter = useEnter();
  if (token === "") return <MailUnderWay />;
  const run = async () => {
    await verifyEmail(token);
    await enter();
  };
  return (
    <EntryCard
      title={t.entry.verify}
      about={t.entry.verifyAbout}
      foot={<Link to="/sign-in">{t.entry.toSignIn}</Link>}
    >
      <EntryForm action={t.entry.verifyAction} run={run} />
    </EntryCard>
  );
}

function MailUnderWay() {
  const email = useField("email");
  const sink = useField("sink");
  const again = useChange(async () => {
    await sendVerification(email);
    say(t.entry.sentAgain);
  });
  return (
    <EntryCard
      title={t.entry.checkInbox}
      about={t.entry.checkInboxAbout(email)}
      foot={
        <>
          {email !== "" && (
            <button type="button" className="row-link link" onClick={() => void again.start()}>
              {t.entry.sendAgain}
            </button>
          )}
          <Link to="/sign-in">{t.entry.toSignIn}</Link>
        </>
      }
    >
      <p className="small">{t.entry.noMail}</p>
      {sink !== "" && (
        <p className="small">
          {t.entry.sink} <code>{sink}</code>
        </p>
      )}
    </EntryCard>
  );
}
