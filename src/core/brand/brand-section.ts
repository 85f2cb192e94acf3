// Defines and reads the brand in the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import { closed } from "../configuration/fields.ts";
import { type Refuse, urlOf } from "../configuration/section.ts";
import { LANGUAGE_TAGS, type OfferedLanguages } from "../languages.ts";
import { parseAddress } from "../text/mail-address.ts";
import { type Brand, type BrandLink, DEFAULT_BRAND, DOCS_SHOWN } from "./brand.ts";
import { type Accent, type Colour, faintPair, type Scheme } from "./colours.ts";
import { LOGO_BYTES_MAX, readLogo } from "./logo.ts";

const NAME_MAX = 40;
const ABOUT_MAX = 160;
const LINKS_MAX = 8;
/** The most characters of a link's address, as it is given and as pages have it (D-867). */
const LINK_MAX = 200;

/** A line without control characters, and without spaces around it. */
const shortLine = (most: number, description: string) =>
  Type.String({
    pattern: `^(?! )[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{1,${most}}(?<! )$`,
    description,
    errorMessage: `must be one line of 1 to ${most} characters, without spaces around it`,
  });
const colour = (description: string) =>
  Type.String({
    pattern: "^#[0-9A-Fa-f]{6}$",
    description,
    errorMessage: "must be a colour such as #0b6b50",
  });
const TOO_LONG = `must be an http or https URL of at most ${LINK_MAX} characters`;
const linkAddress = (description: string) =>
  Type.String({
    pattern: "^https?://[^\\s]+$",
    maxLength: LINK_MAX,
    description,
    errorMessage: TOO_LONG,
  });
const flag = (description: string) =>
  Type.Boolean({ description, errorMessage: "must be true or false" });

const BrandFile = Type.Object(
  {
    name: shortLine(NAME_MAX, "What pages, mails and documents call the service"),
    about: Type.Optional(
      shortLine(ABOUT_MAX, "One sentence about it, for the front page and search engines"),
    ),
    sender_name: Type.Optional(
      shortLine(NAME_MAX, "The sender of mails, and the name after `via`; left out: `name`"),
    ),
    logo_svg: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LOGO_BYTES_MAX,
        description: "The text of a square SVG picture of shapes alone; left out: a mark of ours",
        errorMessage: `must be an SVG picture of at most ${LOGO_BYTES_MAX} bytes`,
      }),
    ),
    accent: Type.Optional(
      Type.Object(
        {
          light: colour("On light pages; at least 4.5 to 1 on their grounds"),
          dark: colour("On dark pages, likewise"),
        },
        { ...closed, description: "The colour of links, buttons and the mark" },
      ),
    ),
    support_email: Type.Optional(
      Type.String({ maxLength: 254, description: "Where customers ask for help" }),
    ),
    languages: Type.Optional(
      Type.Array(Type.Union(LANGUAGE_TAGS.map((tag) => Type.Literal(tag))), {
        minItems: 1,
        uniqueItems: true,
        description:
          "The languages of pages and mails; the first one serves whoever asks for no other",
        errorMessage: `must be a list of different languages out of ${LANGUAGE_TAGS.join(", ")}`,
      }),
    ),
    terms_url: Type.Optional(linkAddress("The terms of use")),
    privacy_url: Type.Optional(linkAddress("The privacy notice")),
    imprint_url: Type.Optional(linkAddress("The imprint")),
    links: Type.Optional(
      Type.Array(
        Type.Object(
          { label: shortLine(NAME_MAX, "Its text"), url: linkAddress("Its address") },
          { ...closed, description: "A link in the foot of the pages" },
        ),
        {
          maxItems: LINKS_MAX,
          description: "Further links, such as a status page",
          errorMessage: `must be a list of at most ${LINKS_MAX} links`,
        },
      ),
    ),
    front_page: Type.Optional(
      flag("Whether `/` is a page for visitors (default), or leads to the dashboard"),
    ),
    search_engines: Type.Optional(
      flag("Whether search engines may list the front page and the documentation; default true"),
    ),
    docs: Type.Optional(
      Type.Union(
        DOCS_SHOWN.map((one) => Type.Literal(one)),
        {
          description: "The pages that `/docs` shows: those for customers (default), or all",
          errorMessage: `must be one of ${DOCS_SHOWN.join(", ")}`,
        },
      ),
    ),
  },
  { ...closed, description: "The name and look of the service; left out: ours" },
);

export const BRAND_SECTION = { brand: Type.Optional(BrandFile) };

type BrandFields = Static<typeof BrandFile>;

const LEGAL = { terms_url: "Terms", privacy_url: "Privacy", imprint_url: "Imprint" } as const;

/** Returns the brand of the section `brand`; ours without the section. */
export function readBrand(file: BrandFields | undefined, refuse: Refuse): Brand {
  if (file === undefined) return DEFAULT_BRAND;
  return {
    name: file.name,
    about: file.about ?? DEFAULT_BRAND.about,
    senderName: file.sender_name ?? file.name,
    logo: file.logo_svg === undefined ? null : logoOf(file.logo_svg, refuse),
    accent: accentOf(file.accent, refuse),
    supportEmail: supportOf(file.support_email, refuse),
    languages: languagesOf(file),
    links: linksOf(file, refuse),
    hasFrontPage: file.front_page ?? true,
    isListed: file.search_engines ?? true,
    docs: file.docs ?? "customers",
  };
}

function logoOf(text: string, refuse: Refuse): Brand["logo"] {
  const logo = readLogo(text);
  return typeof logo === "string" ? refuse("/brand/logo_svg", logo) : logo;
}

function accentOf(given: BrandFields["accent"], refuse: Refuse): Accent {
  if (given === undefined) return DEFAULT_BRAND.accent;
  const accent = {
    light: given.light.toLowerCase() as Colour,
    dark: given.dark.toLowerCase() as Colour,
  };
  for (const scheme of Object.keys(accent) as Scheme[]) {
    const faint = faintPair(accent, scheme);
    if (faint !== null) refuse(`/brand/accent/${scheme}`, `is hard to read: ${faint}`);
  }
  return accent;
}

function supportOf(text: string | undefined, refuse: Refuse): string | null {
  if (text === undefined) return null;
  const parsed = parseAddress(text);
  return typeof parsed === "string" ? refuse("/brand/support_email", parsed) : parsed.address;
}

function languagesOf({ languages = [] }: BrandFields): OfferedLanguages {
  const [first, ...others] = languages;
  return first === undefined ? DEFAULT_BRAND.languages : [first, ...others];
}

function linksOf(file: BrandFields, refuse: Refuse): BrandLink[] {
  const linkTo = (label: string, text: string, pointer: string): BrandLink => {
    const { href } = urlOf(text, (problem) => refuse(pointer, problem));
    // A letter that an address writes in percent takes up to nine characters there.
    if (href.length > LINK_MAX) refuse(pointer, `${TOO_LONG}, but is written '${href}'`);
    return { label, url: href };
  };
  const legal = Object.entries(LEGAL).flatMap(([field, label]) => {
    const url = file[field as keyof typeof LEGAL];
    return url === undefined ? [] : [linkTo(label, url, `/brand/${field}`)];
  });
  const others = (file.links ?? []).map(({ label, url }, index) =>
    linkTo(label, url, `/brand/links/${index}/url`),
  );
  return [...legal, ...others];
}
