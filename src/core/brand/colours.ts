// The one colour that a brand sets (D-760), for light pages and for dark ones, and its contrast
// with the colours beside it, as WCAG 2.2 computes contrasts (1.4.3).

/** `#rrggbb`. */
export type Colour = `#${string}`;

/** The accent of a brand: links, buttons and the mark. */
export interface Accent {
  readonly light: Colour;
  readonly dark: Colour;
}

export type Scheme = keyof Accent;

/** WCAG 2.2, 1.4.3, level AA, for text. */
const CONTRAST_MIN = 4.5;

/** The surfaces that the accent stands on, as dashboard/src/styles/tokens.css has them. */
export const SURFACES = {
  light: { ground: "#f7f7f4", panel: "#ffffff", hover: "#f1f1ec" },
  dark: { ground: "#101316", panel: "#171b1f", hover: "#1f252a" },
} as const satisfies Record<Scheme, Readonly<Record<string, Colour>>>;

/** A colour with more luminance than this has black text on it, as Mantine decides it too. */
export const LUMINANCE_OF_BLACK_TEXT = 0.3;
const WHITE: Colour = "#ffffff";
const BLACK: Colour = "#000000";
/** The share of the accent in the ground of a chosen element. */
const TINT = 0.12;

type Channels = readonly [red: number, green: number, blue: number];

/** The contrast of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: Colour, other: Colour): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The colour of text on this colour. */
export function textOn(colour: Colour): Colour {
  return luminance(colour) > LUMINANCE_OF_BLACK_TEXT ? BLACK : WHITE;
}

/** The ground of a chosen element, in the accent's hue. */
export function tintOf(accent: Accent, scheme: Scheme): Colour {
  return mixed(SURFACES[scheme].panel, accent[scheme], TINT);
}

/** Returns the pair with too little contrast, in words with its ratio; null if there is none. */
export function faintPair(accent: Accent, scheme: Scheme): string | null {
  const colour = accent[scheme];
  const surfaces = { ...SURFACES[scheme], tint: tintOf(accent, scheme) };
  const pairs: [words: string, ratio: number][] = [
    ...Object.entries(surfaces).map(([name, surface]): [string, number] => [
      `${colour} on the ${scheme} ${name} ${surface}`,
      contrast(colour, surface),
    ]),
    [`the text ${textOn(colour)} of a button on ${colour}`, contrast(colour, textOn(colour))],
  ];
  const faint = pairs.find(([, ratio]) => ratio < CONTRAST_MIN);
  if (faint === undefined) return null;
  const [words, ratio] = faint;
  // Rounded down, so that a ratio below the limit never reads as the limit.
  const shown = (Math.floor(ratio * 100) / 100).toFixed(2);
  return `${words} has a contrast of ${shown} to 1, but needs ${CONTRAST_MIN} to 1`;
}

/**
 * Ten shades for a component library that wants them: the fifth is the accent of dark pages, the
 * ninth that of light ones, and those beside them differ enough to show where the pointer is.
 */
export function shadesOf({ light, dark }: Accent): readonly Colour[] {
  return [
    mixed(dark, WHITE, 0.8),
    mixed(dark, WHITE, 0.6),
    mixed(dark, WHITE, 0.4),
    mixed(dark, WHITE, 0.2),
    dark,
    mixed(dark, WHITE, 0.1),
    mixed(light, WHITE, 0.2),
    mixed(light, WHITE, 0.1),
    light,
    mixed(light, BLACK, 0.15),
  ];
}

function luminance(colour: Colour): number {
  const [red, green, blue] = channelsOf(colour).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mixed(colour: Colour, other: Colour, share: number): Colour {
  const others = channelsOf(other);
  const channels = channelsOf(colour).map((channel, index) =>
    Math.round(channel + ((others[index] ?? 0) - channel) * share),
  );
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

function channelsOf(colour: Colour): Channels {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
