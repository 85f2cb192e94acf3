// The settings of the console that `npm start` makes by itself.

import { isOnlyHere, LOOPBACK } from "./sandbox.mjs";

/**
 * The settings of the console. None if other machines could reach it and no public address is set.
 * While no mail is delivered and nobody else is led here, people on this machine see in the replies
 * what was mailed to them.
 * @param {NodeJS.ProcessEnv} given
 * @param {{ SESSION_SECRET?: string }} kept
 * @returns {NodeJS.ProcessEnv}
 */
export function consoleSettings(given, kept) {
  const isLocal = LOOPBACK.includes(given.HOST ?? "");
  if (!isLocal && !given.CONSOLE_URL) return { SESSION_SECRET: undefined };
  const isDelivered = Boolean(given.MAIL_SMTP_URL || given.MAIL_SMTP_URL_FILE);
  return {
    SESSION_SECRET: kept.SESSION_SECRET,
    CONSOLE_SHOW_MAILS: given.CONSOLE_SHOW_MAILS || String(isOnlyHere(given) && !isDelivered),
  };
}
