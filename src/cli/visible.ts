// Makes text of others safe to print: names, addresses and programs. Control characters in it could
// hide or fake lines on the operator's terminal.

/**
 * Controls except tabs and line ends, line separators, and characters that turn the direction of
 * text.
 */
const ACTING = /(?![\t\n]|\r\n)\p{Cc}|[\u2028\u2029]|\p{Bidi_Control}/gu;

/** Replaces the characters that act on a terminal by escapes as in JSON: `\u001b`. */
export function visible(text: string): string {
  return text.replaceAll(
    ACTING,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
