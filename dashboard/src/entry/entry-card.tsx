// The card of the pages before sign-in.

import type { ReactNode } from "react";
import { LANGUAGES } from "../../../src/core/languages.ts";
import { useKeptVoucher } from "../kept-voucher.ts";
import { OFFERED, showIn } from "../language.ts";
import { language } from "../locale.ts";
import { Brand, BrandLinks } from "../parts/mark.tsx";
import { Notice } from "../parts/panel.tsx";
import { t } from "../texts.ts";

/** The languages of the pages, each by its own name. */
function LanguageChoice() {
  if (OFFERED.length < 2) return null;
  return (
    <fieldset className="entry-foot small languages" aria-label={t.nav.language}>
      {OFFERED.map((one) => (
        <button
          key={one}
          type="button"
          lang={one}
          className="link"
          {...(one === language && { "aria-current": "true" })}
          onClick={() => showIn(one)}
        >
          {LANGUAGES[one].name}
        </button>
      ))}
    </fieldset>
  );
}

interface EntryCardProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
  /** Links to the other ways in. */
  readonly foot?: ReactNode;
}

export function EntryCard({ title, about, children, foot }: EntryCardProps) {
  const hasVoucher = useKeptVoucher() !== null;
  return (
    <main className="entry">
      <div className="entry-card">
        <div className="brand">
          <Brand />
        </div>
        <div className="panel stack">
          <div>
            <h1>{title}</h1>
            {about !== undefined && <p className="dim small">{about}</p>}
          </div>
          {hasVoucher && <Notice>{t.entry.voucherWaits}</Notice>}
          {children}
        </div>
        {foot !== undefined && <div className="entry-foot small">{foot}</div>}
        <LanguageChoice />
        <BrandLinks />
      </div>
    </main>
  );
}
