// Makes the settings of the console for `npm start`.

import { isOnlyHere, LOOPBACK } from "./sandbox.mjs";

/**
 * The settings of the console. Returns no secret if other machines could reach it and no public
 * address is set. While no mail is delivered and only this machine can reach the console, people
 * see the content of their mails in the replies.
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
