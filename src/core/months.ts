// Months of UTC as text, `2026-11`, which sorts by time.

/** The month of a time. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

/** The first instant of a month. */
export function startOfMonth(month: string): Date {
  return new Date(`${month}-01T00:00:00Z`);
}

/** The month so many months later, or earlier. */
export function addMonths(month: string, count: number): string {
  const start = startOfMonth(month);
  start.setUTCMonth(start.getUTCMonth() + count);
  return monthOf(start.getTime());
}

/** Whether a text is a month. */
export function isMonth(text: string): boolean {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text);
}
