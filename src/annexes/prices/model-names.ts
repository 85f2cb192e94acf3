// Compares names of models. Providers write one model as "claude-haiku-4-5-20251001", "Claude Haiku
// 4.5" and "anthropic/claude-4.5-haiku".

const DATE = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8})(?=$|:)/;

/**
 * A key that two names of one model share: without case, date, vendor and order of words. Numbers
 * keep their order, because 4.5 and 5.4 are two models.
 */
export function modelKey(name: string): string {
  const undated = name.toLowerCase().replace(DATE, "");
  const own = undated.slice(undated.lastIndexOf("/") + 1).replace(/-latest$/, "");
  const tokens = own.split(/[^a-z0-9]+/).filter((token) => token !== "");
  const isNumber = (token: string) => /^\d+$/.test(token);
  const words = tokens.filter((token) => !isNumber(token)).toSorted();
  return `${words.join(" ")} ${tokens.filter(isNumber).join(".")}`.trim();
}
