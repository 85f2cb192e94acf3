// What others chose stands in what commands print: names, addresses, the programs people use. None
// of it may act on the operator's terminal, which would let it hide or fake lines.

/** Controls but for tabs and line ends; separators of lines; what turns the direction of text. */
const ACTING = /(?![\t\n]|\r\n)\p{Cc}|[\u2028\u2029]|\p{Bidi_Control}/gu;

/** The text with what acts on a terminal as digits, as JSON too writes them: `\u001b`. */
export function visible(text: string): string {
  return text.replaceAll(
    ACTING,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
