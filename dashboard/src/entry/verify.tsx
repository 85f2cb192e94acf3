// The page of a verification mail. A button verifies, because mail scanners open links; without a
// token the page says that a mail is under way.

import { Link, useNavigate } from "@tanstack/react-router";
import { verifySignUp } from "../api/auth.ts";
import { say } from "../parts/ask.tsx";
import { t } from "../texts.ts";
import { EntryCard } from "./entry-card.tsx";
import { EntryForm, useAddressField, useEnter, useToken } from "./entry-form.tsx";

export function Verify() {
  const token = useToken();
  const enter = useEnter();
  const navigate = useNavigate();
  if (token === "") return <MailUnderWay />;
  const run = async () => {
    const verified = await verifySignUp(token);
    if (verified.signed_in) {
      if (verified.has_password === false) say(t.entry.noPasswordYet);
      return await enter();
    }
    say(t.entry.knownAlready);
    await navigate({ to: "/sign-in" });
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
  const email = useAddressField("email");
  return (
    <EntryCard
      title={t.entry.checkInbox}
      about={t.entry.checkInboxAbout(email)}
      foot={
        <>
          <Link to="/sign-up" search={{ email }}>
            {t.entry.sendAgain}
          </Link>
          <Link to="/sign-in">{t.entry.toSignIn}</Link>
        </>
      }
    >
      <p className="small">{t.entry.noMail}</p>
    </EntryCard>
  );
}
