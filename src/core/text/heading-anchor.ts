// Names headings of Markdown pages, so that links lead to them.

/** The anchor of a heading in links, in the form of GitHub. */
export function headingAnchor(heading: string): string {
  const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "");
  return words.trim().replaceAll(/\s/g, "-");
}
