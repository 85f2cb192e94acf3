// The mark: a rounded square in the accent with a slot and a coin falling into it.

import { t } from "../texts.ts";

export function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="var(--fb-accent)" />
      <rect x="5.5" y="6" width="13" height="2.4" rx="1.2" fill="var(--fb-panel)" />
      <rect x="10.4" y="10.4" width="3.2" height="8" rx="1.6" fill="var(--fb-panel)" />
    </svg>
  );
}

/** The mark with the product's name. */
export function Brand() {
  return (
    <>
      <Mark />
      <span>{t.product}</span>
    </>
  );
}
