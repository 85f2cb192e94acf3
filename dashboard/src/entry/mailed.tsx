// In development no mail is delivered: the page then shows the content of the mail.

import { t } from "../texts.ts";

interface MailedProps {
  readonly mailed: { readonly link?: string; readonly code?: string } | null;
}

export function Mailed({ mailed }: MailedProps) {
  if (mailed === null) return null;
  const { link, code } = mailed;
  return (
    <div className="notice" data-tone="held">
      <div className="small">
        {t.entry.development} {link !== undefined && <a href={link}>{t.entry.openMailed}</a>}
        {code !== undefined && <code>{code}</code>}
      </div>
    </div>
  );
}
