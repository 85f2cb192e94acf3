// Texts of team and settings, in German.

import { nameOf } from "../../name-of.ts";
import type { Texts } from "../en/english.ts";
import type { ActionName } from "../en/people.ts";

const BY_OPERATOR = "als Betreiber:";

const ACTIONS: Readonly<Record<ActionName, string>> = {
  account_closed: "hat das Konto geschlossen",
  account_opened: "hat das Konto eröffnet",
  account_renamed: "hat das Konto benannt:",
  budget_changed: "hat ein Budget geändert:",
  burn_rule_added: "hat eine Ausgabenregel hinzugefügt:",
  burn_rule_fired: "hat schnelle Ausgaben bemerkt:",
  burn_rule_removed: "hat eine Ausgabenregel entfernt:",
  key_resumed: "hat die Wirkung einer Ausgabenregel beendet:",
  cap_changed: "hat die monatliche Obergrenze geändert:",
  invitation_withdrawn: "hat eine Einladung zurückgezogen:",
  key_created: "hat den Schlüssel erstellt:",
  key_renamed: "hat den Schlüssel umbenannt:",
  key_limited: "hat die Limits des Schlüssels geändert:",
  key_revoked: "hat den Schlüssel gelöscht:",
  person_invited: "hat eingeladen:",
  person_joined: "ist beigetreten:",
  person_left: "ist ausgetreten:",
  person_removed: "hat entfernt:",
  role_changed: "hat die Rolle geändert:",
  card_removed: "hat eine Karte entfernt:",
  checkout_started: "hat eine Aufladung begonnen:",
  card_charged: "hat eine gespeicherte Karte belastet:",
  plan_ordered: "hat den Tarif bestellt:",
  plan_canceled: "hat den Tarif gekündigt",
  auto_top_up_enabled: "hat die automatische Aufladung eingestellt:",
  auto_top_up_disabled: "hat die automatische Aufladung ausgeschaltet",
  webhook_added: "hat den Webhook hinzugefügt:",
  webhook_changed: "hat den Webhook geändert:",
  webhook_deleted: "hat gelöscht:",
  webhook_disabled: "hat ausgeschaltet:",
  webhook_enabled: "hat eingeschaltet:",
  webhook_replayed: "hat erneut gesendet:",
  webhook_rotated: "hat das Geheimnis eines Webhooks erneuert:",
  webhook_tested: "hat ein Testereignis gesendet an",
  operator_credit: BY_OPERATOR,
  operator_adjust: BY_OPERATOR,
  operator_forgive: BY_OPERATOR,
  operator_refund: BY_OPERATOR,
  operator_suspend: BY_OPERATOR,
  operator_resume: BY_OPERATOR,
  operator_close: BY_OPERATOR,
  operator_grant_free: BY_OPERATOR,
  operator_plan: BY_OPERATOR,
  operator_contract: BY_OPERATOR,
  operator_domain: BY_OPERATOR,
  operator_dispute: BY_OPERATOR,
  operator_audit: BY_OPERATOR,
};

export const peopleTexts: Texts["people"] = {
  teamAbout: (name) => `Wer ${name} sehen und ändern darf`,
  members: "Mitglieder",
  invitations: "Einladungen",
  roles: "Was jede Rolle darf",
  roleAbout: {
    owner: "alles, auch das Konto schließen und Inhaber ernennen",
    admin: "auch Schlüssel, Limits und Einladungen",
    billing: "auch bezahlen, Karten und automatische Aufladung",
    viewer: "alles sehen außer Geheimnissen",
  },
  columns: { person: "Person", role: "Rolle", since: "Seit" },
  you: "Sie",
  roleOf: (email) => `Rolle von ${email}`,
  roleChanged: (email) => `Die Rolle von ${email} ist geändert; sie gilt sofort.`,
  remove: "Entfernen",
  removeTitle: (email) => `${email} entfernen?`,
  removeAbout:
    "Der Zugang endet sofort. Von dieser Person erstellte Schlüssel gelten weiter: Löschen Sie " +
    "diese gesondert.",
  leave: "Verlassen",
  leaveTitle: "Dieses Konto verlassen?",
  leaveAbout: "Ihr Zugang endet sofort. Wer bleibt, kann Sie wieder einladen.",
  invite: "Einladen",
  invited: (email) => `Eine Einladung ist unterwegs an ${email}.`,
  invitedUnmailed: (email) =>
    `${email} ist eingeladen. Es wurde keine E-Mail gesendet: Hier gibt es keinen Mailserver.`,
  invitationFacts: (by, end) => `von ${by} · bis ${end}`,
  noInvitations: "Keine Einladung ist offen.",
  withdraw: "Zurückziehen",
  withdrawTitle: "Diese Einladung zurückziehen?",
  withdrawAbout: "Ihr Link gilt ab sofort nicht mehr.",
  profile: "Profil",
  account: "Konto",
  accountName: "Name des Kontos",
  currentPassword: "Ihr Passwort",
  noPassword: "Noch kein Passwort, oder vergessen? Legen Sie es über einen Link per E-Mail fest.",
  passwordEnds: (least) => `Mindestens ${least} Zeichen. Ihre anderen Sitzungen enden.`,
  passwordChanged: "Das Passwort ist geändert.",
  changePassword: "Passwort ändern",
  on: "ein",
  off: "aus",
  turnOn: "Einschalten",
  turnOff: "Ausschalten",
  app: "Authenticator-App",
  twoFactorAbout: "Bei jeder Anmeldung zusätzlich zum Passwort ein Code aus der App.",
  otherSessionsEnd: "Alle Ihre anderen Sitzungen enden damit.",
  needsLink:
    "Der erste zweite Faktor eines Betreibers wird nach einer Anmeldung mit einem Link " +
    "eingerichtet, den der Betreiber dieser Installation erstellt. Ein Postfach oder ein " +
    "Passwort " +
    "allein genügt nicht.",
  needsLinkAbout: "Dieser Befehl erstellt den Link. Öffnen Sie ihn in diesem Browser.",
  linkCommand: "Der Befehl",
  twoFactorOn: "Zweiten Faktor einschalten",
  twoFactorOff: "Zweiten Faktor ausschalten",
  twoFactorIsOn: "Der zweite Faktor ist eingeschaltet.",
  twoFactorIsOff: "Der zweite Faktor ist ausgeschaltet.",
  scan: "Scannen Sie dies mit Ihrer Authenticator-App, oder geben Sie das Geheimnis dort ein.",
  qr: "QR-Code des Geheimnisses",
  secret: "Das Geheimnis",
  backupAbout:
    "Bewahren Sie diese Backup-Codes auf: Jeder meldet Sie einmal an, falls Sie die App verlieren.",
  backupCodes: "Backup-Codes",
  confirmCode: "Geben Sie dann den Code ein, den die App anzeigt.",
  passkeys: "Passkeys",
  passkeysAbout:
    "Ein Passkey bleibt in Ihrem Gerät, das ihn per Fingerabdruck, Gesicht oder PIN freigibt. Er " +
    "meldet Sie ohne Passwort und ohne weiteren Code an.",
  passkeyColumns: { name: "Name", added: "Hinzugefügt (UTC)", used: "Zuletzt verwendet (UTC)" },
  neverUsed: "noch nicht",
  noPasskeys: "Sie haben keinen Passkey.",
  addPasskey: "Passkey hinzufügen",
  passkeyName: "Ein Name dafür",
  passkeyNameHint: "Zum Beispiel das Gerät, in dem er liegt",
  passkeyAdded: (name) => `Der Passkey ${name} ist hinzugefügt.`,
  removePasskey: (name) => `Passkey ${name} entfernen?`,
  removePasskeyAbout: "Er gilt hier nicht mehr. Löschen Sie ihn auch in Ihrem Gerät.",
  passkeyRemoved: (name) => `Der Passkey ${name} ist entfernt.`,
  passkeyCancelled:
    "Das Gerät hat keinen Passkey erstellt oder verwendet. Versuchen Sie es erneut, oder wählen " +
    "Sie ein anderes Gerät.",
  passkeyKnown: "Dieses Gerät hat schon einen Passkey für Ihr Konto.",
  passkeysImpossible:
    "Passkeys funktionieren, wenn das Dashboard unter einem Hostnamen per HTTPS oder als " +
    "localhost " +
    "geöffnet ist.",
  useCode: "Stattdessen einen Code per E-Mail verwenden",
  usePassword: "Stattdessen das Passwort verwenden",
  sendCode: "Code per E-Mail senden",
  sessions: "Wo Sie angemeldet sind",
  email: "E-Mail-Adresse",
  newEmail: "Neue Adresse",
  emailAbout: "Ein Link geht an die neue Adresse; sie gilt, sobald Sie ihn geöffnet haben.",
  changeEmail: "Adresse ändern",
  emailNeedsFactor:
    "Sie können die Adresse ändern, sobald Sie Ihren zweiten Faktor eingerichtet haben.",
  emailSent: (email) => `Ein Link ist unterwegs an ${email}.`,
  confirmEmail: "Diese Adresse verwenden",
  confirmEmailAbout: (email) =>
    `Ab jetzt melden Sie sich mit ${email} an, nicht mehr mit Ihrer bisherigen Adresse.`,
  emailChanged: "Ihre Adresse ist geändert.",
  oneApplicationAccount: "Sie besitzen schon eines: Es steht in der Liste oben in der Navigation.",
  sessionColumns: { device: "Gerät", since: "Seit (UTC)", ends: "Bis (UTC)" },
  thisOne: "diese hier",
  device: (browser, system) => `${browser} auf ${system}`,
  unknownDevice: "Unbekanntes Gerät",
  endSession: "Dort abmelden",
  endOthers: "Überall sonst abmelden",
  sessionsEnded: "Alle anderen Sitzungen sind beendet.",
  activity: "Aktivität",
  activityAbout: "Wer was getan hat; Zeiten in UTC",
  actors: { operator: "Betreiber", system: "System", "command line": "Befehlszeile" },
  activityColumns: { at: "Wann", who: "Wer", what: "Was", from: "Von" },
  noActivity: "Noch nichts. Änderungen von Personen stehen hier.",
  action: (name) => nameOf(ACTIONS, name).replaceAll("_", " "),
  newAccount: "Anwendungskonto",
  newAccountAbout:
    "Die Application API hat eigene Konten, Guthaben und Schlüssel. Eröffnen Sie eines, um ihre " +
    "Modelle zu nutzen und für jede Anfrage ein Modell auswählen zu lassen.",
  newAccountAction: "Anwendungskonto eröffnen",
  close: "Dieses Konto schließen",
  closeAbout:
    "Alle Schlüssel werden sofort widerrufen, und Aufrufe sind nicht mehr möglich. Die " +
    "Aufzeichnungen bleiben lesbar.",
  closeByOwner: "Ein Inhaber kann es schließen.",
  closeAction: "Konto schließen",
  closeTitle: (name) => `${name} schließen?`,
  closeLeft: (usd) =>
    `${usd} bezahltes Guthaben sind übrig. Bitten Sie den Betreiber vor oder nach dem Schließen ` +
    "um " +
    "eine Rückerstattung.",
  closed: "Das Konto ist geschlossen.",
};
