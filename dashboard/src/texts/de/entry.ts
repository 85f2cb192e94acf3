// Texts of the pages before sign-in, in German.

import type { Texts } from "../en/english.ts";

const TOO_MANY = "Zu viele Versuche. Warten Sie etwas und versuchen Sie es erneut.";

export const entryTexts: Texts["entry"] = {
  signIn: "Anmelden",
  signUp: "Konto erstellen",
  signUpAbout: "Ein Schlüssel und ein Prepaid-Guthaben für Modelle, Suche, Karten und E-Mail.",
  voucherWaits: "Ihr Gutschein wartet hier, bis Sie angemeldet sind.",
  toSignIn: "Anmelden",
  toSignUp: "Konto erstellen",
  email: "E-Mail-Adresse",
  name: "Name",
  password: "Passwort",
  newPassword: "Neues Passwort",
  passwordRule: (least) => `Mindestens ${least} Zeichen`,
  byPasskey: "Mit Passkey anmelden",
  bySso: "Mit SSO anmelden",
  byCode: "Mit einem Code anmelden",
  byCodeAbout: "Wir senden einen sechsstelligen Code an Ihr Postfach.",
  sendCode: "Code senden",
  enterCode: "Code eingeben",
  enterCodeAbout: (email) => `Falls ${email} hier ein Konto hat, ist ein Code unterwegs.`,
  codeSent: (email) => `Ein Code ist unterwegs an ${email}.`,
  code: "Code",
  digit: (index) => `Ziffer ${index}`,
  forgot: "Passwort vergessen?",
  forgotAbout: "Wir senden Ihnen einen Link, mit dem Sie ein neues Passwort festlegen.",
  sendLink: "Link senden",
  resetSent: (email) => `Falls ${email} hier ein Konto hat, ist ein Link unterwegs.`,
  reset: "Neues Passwort festlegen",
  resetAction: "Passwort festlegen",
  resetDone: "Das neue Passwort gilt. Melden Sie sich damit an.",
  brokenLink: "Dieser Link ist unvollständig. Öffnen Sie ihn noch einmal aus der E-Mail.",
  ssoEmpty:
    "Der Single-Sign-on-Anbieter führt auf diese Seite zurück. Beginnen Sie auf der Anmeldeseite.",
  verify: "E-Mail-Adresse bestätigen",
  verifyAbout: "Damit zeigen Sie, dass das Postfach Ihnen gehört, und Ihr Konto wird eröffnet.",
  verifyAction: "Bestätigen und fortfahren",
  checkInbox: "Sehen Sie in Ihr Postfach",
  checkInboxAbout: (email) =>
    email === ""
      ? "Wir haben eine E-Mail mit einem Link gesendet."
      : `Wir haben eine E-Mail an ${email} gesendet. Der Link darin eröffnet Ihr Konto.`,
  noMail:
    "Nach einer Minute keine E-Mail? Sehen Sie im Spam-Ordner nach, oder lassen Sie sie erneut " +
    "senden.",
  sendAgain: "Erneut senden",
  knownAlready: "Diese Adresse hat bereits ein Konto. Melden Sie sich damit an.",
  noPasswordYet:
    "Sie haben sich in einem anderen Browser registriert, deshalb wurde Ihr Passwort nicht " +
    "festgelegt. Legen Sie es über einen Link per E-Mail fest, oder melden Sie sich mit Codes an.",
  development: "Diese Installation versendet keine E-Mails. Die E-Mail enthält:",
  openMailed: "den Link",
  twoFactor: "Zweiter Faktor",
  twoFactorAbout: "Geben Sie den Code ein, den Ihre Authenticator-App anzeigt.",
  passkeyDue:
    "Verwenden Sie den Passkey Ihres Kontos. Falls Sie ihn verloren haben, wenden Sie sich an " +
    "den " +
    "Betreiber dieser Installation.",
  backupAbout: "Jeder Backup-Code gilt einmal.",
  backupCode: "Backup-Code",
  useBackup: "Backup-Code verwenden",
  useApp: "App verwenden",
  link: "Einmalige Anmeldung",
  linkAbout: "Dieser Link meldet Sie einmal an.",
  invitation: "Sie wurden eingeladen",
  invitationAbout: (email) => `Sie sind als ${email} angemeldet.`,
  accept: "Einladung annehmen",
  signInFirst: "Melden Sie sich mit der Adresse an, an die die Einladung gesendet wurde.",
  tooMany: (seconds) =>
    seconds === null ? TOO_MANY : `Zu viele Versuche. Versuchen Sie es in ${seconds} s erneut.`,
  refusals: {
    invalid_email_or_password: "E-Mail-Adresse oder Passwort ist falsch.",
    invalid_password: "Das Passwort ist falsch.",
    invalid_token:
      "Dieser Link ist falsch, wurde schon verwendet oder ist zu alt. Fordern Sie einen neuen an.",
    invalid_otp: "Der Code ist falsch.",
    otp_expired: "Dieser Code ist abgelaufen. Fordern Sie einen neuen an.",
    too_many_attempts: TOO_MANY,
    invalid_passkey: "Dieser Passkey ist hier nicht bekannt. Melden Sie sich anders an.",
    code_used: "Dieser Code wurde schon eingegeben. Warten Sie auf den nächsten.",
    invalid_code: "Der Code ist falsch.",
    invalid_backup_code: "Der Backup-Code ist falsch oder wurde schon verwendet.",
    invalid_two_factor_cookie: "Diese Anmeldung ist abgelaufen. Melden Sie sich erneut an.",
  },
};
