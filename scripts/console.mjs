// The settings of the console that `npm start` makes by itself.

import { LOOPBACK } from "./sandbox.mjs";

/**
 * Settings of the console: none where others could reach it under an address that nobody named.
 * While no mail is delivered, people on this machine see in the answers what they were mailed.
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
    CONSOLE_SHOW_MAILS: given.CONSOLE_SHOW_MAILS || String(isLocal && !isDelivered),
  };
}
