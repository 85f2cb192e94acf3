// The mark of the brand: the operator's logo, or a rounded square in the accent with a slot and a
// coin falling into it.

import { BRAND } from "../brand.ts";
import { t } from "../texts.ts";

const SIZE = 22;

export function Mark() {
  if (BRAND.logo !== null) return <img src={BRAND.logo} width={SIZE} height={SIZE} alt="" />;
  return (
    <svg width={SIZE} height={SIZE} viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="var(--fb-accent)" />
      <rect x="5.5" y="6" width="13" height="2.4" rx="1.2" fill="var(--fb-panel)" />
      <rect x="10.4" y="10.4" width="3.2" height="8" rx="1.6" fill="var(--fb-panel)" />
    </svg>
  );
}

/** The mark with the name of the service. */
export function Brand() {
  return (
    <>
      <Mark />
      <span>{BRAND.name}</span>
    </>
  );
}

/** The name and the support address of the service, which only printed pages show. */
export function PrintedBrand() {
  const { name, supportEmail } = BRAND;
  const text = supportEmail === null ? name : `${name} · ${supportEmail}`;
  return <p className="printed strong">{text}</p>;
}

/** The legal pages of the operator, and the address to ask; null where there are none. */
export function BrandLinks() {
  const { links, supportEmail } = BRAND;
  if (links.length === 0 && supportEmail === null) return null;
  return (
    <div className="entry-foot tiny">
      {links.map(({ label, url }) => (
        <a key={label + url} href={url}>
          {label}
        </a>
      ))}
      {supportEmail !== null && <a href={`mailto:${supportEmail}`}>{t.nav.support}</a>}
    </div>
  );
}
