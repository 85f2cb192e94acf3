// Cleans text for a header of a mail, or for any other place that must stay one honest line.

// CR, LF, VT, FF, NEL and the two Unicode separators.
const LINE_BREAKS = /[\r\n\v\f\u0085\u2028\u2029]/g;
// Other control characters, and those that change the direction of text and so can hide its
// meaning.
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The text without line breaks, control characters and bidi characters. */
export function headerText(text: string): string {
  return text.replaceAll(LINE_BREAKS, "").replaceAll("\t", " ").replaceAll(CONTROLS, "").trim();
}
