// The texts of the service's own mails, in German.

import { localUsd } from "../money/local-usd.ts";
import { GERMAN_FAILURES } from "../money/payment-failures.ts";
import type { MailTexts } from "./english.ts";

const IGNORE =
  "Falls Sie das nicht waren, ignorieren Sie diese E-Mail: Ohne Ihr Zutun geschieht nichts.";
const FREE_PLAN = "Danach endet der Tarif, und Ihr Konto hat den Tarif Free.";
const UTC = { timeZone: "UTC" } as const;
const DAY = new Intl.DateTimeFormat("de-DE", { ...UTC, dateStyle: "medium" });
const TIME = new Intl.DateTimeFormat("de-DE", { ...UTC, dateStyle: "medium", timeStyle: "short" });

export const germanMails: MailTexts = {
  gap: " ",
  usd: (amount) => localUsd("de", amount),
  time: (time) => `${TIME.format(time)} UTC`,
  day: (time) => DAY.format(time),
  reader: {
    language: "de",
    why: (service) =>
      `${service} hat diese E-Mail wegen Ihres Kontos oder einer Anfrage dazu gesendet.`,
    questions: (address) => `Fragen: ${address}`,
  },
  buttons: {
    payments: "Zahlungen ansehen",
    cards: "Karten ansehen",
    receipt: "Beleg öffnen",
    topUp: "Guthaben aufladen",
    webhooks: "Webhooks ansehen",
    limits: "Limits ansehen",
    signIn: "Anmelden",
    newPassword: "Neues Passwort festlegen",
  },
  facts: {
    code: "Code",
    role: "Rolle",
    payment: "Zahlung",
    date: "Datum",
    paidOn: "Bezahlt am",
    price: "Preis",
    credit: "Guthaben",
    bonus: "Bonus",
    fee: "Gebühr",
    tax: "Steuer",
    youPaid: "Sie haben bezahlt",
    reference: "Referenz",
    reason: "Grund",
    webhook: "Webhook",
    paidBalance: "Bezahltes Guthaben",
    lastTopUp: "Letzte Aufladung",
    freeCredit: "Freiguthaben",
    ends: "Endet",
    key: "Schlüssel",
    spentInFive: "In fünf Minuten ausgegeben",
    ruleFires: "Die Regel greift ab",
  },
  verification: {
    subject: "Bestätigen Sie Ihre Adresse",
    paragraphs: [
      "Sie haben ein Konto mit dieser Adresse angefordert. Bestätigen Sie sie, dann ist Ihr " +
        "Konto " +
        "eröffnet.",
      `Der Link gilt 24 Stunden. ${IGNORE}`,
    ],
    button: "Adresse bestätigen",
  },
  alreadyKnown: {
    subject: "Sie haben bereits ein Konto",
    paragraphs: [
      "Sie haben ein Konto mit dieser Adresse angefordert, aber es gibt schon eines. Melden Sie " +
        "sich an, oder legen Sie ein neues Passwort fest, wenn Sie Ihres nicht mehr kennen.",
      IGNORE,
    ],
  },
  code: {
    subject: (code) => `${code} ist Ihr Code`,
    paragraphs: [
      "Geben Sie diesen Code dort ein, wo Sie ihn angefordert haben. Er gilt einmal, fünf " +
        "Minuten " +
        "lang.",
      `Geben Sie ihn niemandem; wir fragen nie danach. ${IGNORE}`,
    ],
  },
  passwordReset: {
    subject: "Neues Passwort festlegen",
    paragraphs: [
      "Jemand möchte für diese Adresse ein neues Passwort festlegen.",
      `Der Link gilt eine Stunde lang, einmal. ${IGNORE}`,
    ],
  },
  changeEmail: {
    subject: "Bestätigen Sie Ihre neue Adresse",
    paragraphs: [
      "Sie möchten sich ab jetzt mit dieser Adresse anmelden. Bestätigen Sie sie, während Sie " +
        "angemeldet sind.",
      `Der Link gilt eine Stunde. ${IGNORE}`,
    ],
    button: "Diese Adresse verwenden",
  },
  invitation: {
    subject: (by) => `${by} lädt Sie ein`,
    paragraphs: (by, account) => [
      `${by} lädt Sie in das Konto „${account}“ ein.`,
      "Melden Sie sich mit dieser Adresse an, oder registrieren Sie sich, um anzunehmen. Der " +
        "Link " +
        "gilt sieben Tage.",
    ],
    button: "Einladung ansehen",
    roles: {
      owner: "Inhaber",
      admin: "Administrator",
      billing: "Abrechnung",
      viewer: "Betrachter",
    },
  },
  notices: {
    factorOn: "Die App für Ihren zweiten Faktor wurde eingeschaltet",
    factorOff: "Die App für Ihren zweiten Faktor wurde ausgeschaltet",
    codesReplaced: "Ihre Backup-Codes wurden ersetzt",
    passwordChanged: "Ihr Passwort wurde geändert",
    factorLocked: (minutes) =>
      `Ihr zweiter Faktor ist nach zu vielen falschen Codes für ${minutes} Minuten gesperrt`,
    addressChanged: (to) => `Ihre Adresse wurde in ${to} geändert`,
    addressByOperator: (from, to) => `Der Betreiber hat Ihre Adresse von ${from} in ${to} geändert`,
    passkeyAdded: (name) => `Ein Passkey wurde hinzugefügt: ${name}`,
    passkeyRemoved: (name) => `Ein Passkey wurde entfernt: ${name}`,
    ssoLinked: (host) => `Sie können sich jetzt über ${host} anmelden`,
  },
  noticeParagraphs: (what, isPasskey) => [
    `${what}. Falls Sie das waren, ist nichts zu tun.`,
    `Falls nicht, ${isPasskey ? "entfernen Sie den Passkey und " : ""}legen Sie jetzt ein neues ` +
      "Passwort fest; das beendet auch alle Sitzungen.",
  ],
  formerAddressParagraphs: (what) => [
    `${what}. Falls Sie das waren, ist nichts zu tun.`,
    "Falls nicht, melden Sie es sofort dem Betreiber dieses Dienstes: Mit der Adresse dieser " +
      "E-Mail " +
      "kann man sich nicht mehr anmelden, und an sie geht kein Link zu einem neuen Passwort.",
  ],
  payments: {
    plan: (title) => `Tarif ${title}`,
    kinds: {
      plan: "Tarif",
      checkout: "Aufladung",
      card: "Aufladung mit Ihrer gespeicherten Karte",
      auto: "Automatische Aufladung",
    },
    noReason: "kein Grund genannt",
    failures: GERMAN_FAILURES,
  },
  receipt: {
    subject: (credited) => `Beleg: ${credited} Guthaben aufgeladen`,
    paragraph: (credited) => `Vielen Dank. Ihrem Prepaid-Guthaben wurden ${credited} hinzugefügt.`,
  },
  planReceipt: {
    subject: (paid, title) => `Beleg: ${paid} für den Tarif ${title}`,
    paid: (title, until, price) =>
      `Vielen Dank. Ihr Tarif ${title} ist bezahlt bis ${until}. Für den Monat danach wird Ihre ` +
      `Karte mit ${price} belastet, wenn Sie den Tarif nicht vorher kündigen.`,
    extended: (title) =>
      `Vielen Dank. Dieser Monat Ihres Tarifs ${title} war schon bezahlt, deshalb ist der Tarif ` +
      "einen Monat länger bezahlt.",
    takenBack: (title) =>
      `Ihre Zahlung für den Tarif ${title} hat Ihren Tarif nicht verändert: Sie wurde ` +
      "zurückgenommen, bevor sie zählen konnte.",
    late: (title) =>
      `Ihre Zahlung für den Tarif ${title} hat Ihren Tarif nicht verändert: Sie kam zu spät. ` +
      "Wird " +
      "sie nicht bald erstattet, bitten Sie um eine Rückerstattung.",
  },
  autoPaused: {
    subject: "Ihre automatische Aufladung pausiert",
    reasons: {
      card_failed: "Ihre Karte wurde abgelehnt und wird nicht erneut belastet.",
      authentication_required:
        "Ihre Bank verlangt, dass Sie eine Zahlung mit Ihrer gespeicherten Karte selbst " +
        "bestätigen.",
      card_removed: "Die dafür verwendete Karte wurde entfernt.",
      refund: "Eine Ihrer Zahlungen wurde erstattet.",
      dispute: "Eine Ihrer Zahlungen ist angefochten, oder Ihre Bank fragt danach.",
      fraud_warning: "Die Bank einer Karte hat eine Ihrer Zahlungen als möglichen Betrug gemeldet.",
    },
    goesOn: (hasCard) =>
      "Ihre Karte wird in der Pause nicht automatisch belastet. Weiter geht es, " +
      `${hasCard ? "wenn Ihre nächste Zahlung gelingt, oder " : ""}wenn Sie sie erneut einrichten.`,
  },
  chargeFailed: {
    wrongSubject: "Eine Belastung Ihrer Karte wurde nicht gutgeschrieben",
    subject: (amount) => `Ihre Karte wurde nicht mit ${amount} belastet`,
    wrong:
      "Ihre gespeicherte Karte wurde belastet, aber nicht mit dem bestellten Betrag, deshalb " +
      "wurde " +
      "kein Guthaben hinzugefügt. Wird die Belastung nicht bald erstattet, bitten Sie um eine " +
      "Rückerstattung.",
    failed: (amount) =>
      `Eine Belastung Ihrer gespeicherten Karte mit ${amount} ist fehlgeschlagen. Es wurde ` +
      "nichts " +
      "belastet und kein Guthaben hinzugefügt.",
    again: (time) => `Sie wird am ${time} noch einmal versucht.`,
    notAgain: "Sie wird nicht wiederholt.",
  },
  planChargeFailed: {
    wrongSubject: (title) => `Eine Belastung Ihrer Karte zählt nicht für den Tarif ${title}`,
    subject: (amount, title) =>
      `Ihre Karte wurde nicht mit ${amount} für den Tarif ${title} belastet`,
    wrong:
      "Ihre gespeicherte Karte wurde belastet, aber nicht mit dem Preis des Tarifs. Wird die " +
      "Belastung nicht bald erstattet, bitten Sie um eine Rückerstattung.",
    failed: (amount) =>
      `Eine Belastung Ihrer gespeicherten Karte mit ${amount} ist fehlgeschlagen; es wurde ` +
      "nichts " +
      "belastet.",
    next: {
      start: "Der Tarif hat nicht begonnen.",
      upgrade: "Ihr Tarif bleibt, wie er ist.",
      renewal:
        "Ihr Tarif läuft nach dem Ende seines Monats drei Tage weiter, und die Karte wird an " +
        "jedem " +
        `davon erneut belastet. ${FREE_PLAN}`,
      notMade:
        "Falls Ihr Tarif diesen Monat noch braucht, wird Ihre Karte in den drei Tagen nach dem " +
        "Ende " +
        `des vorigen Monats erneut belastet. ${FREE_PLAN}`,
    },
  },
  planEnded: {
    subject: (title) => `Ihr Tarif ${title} ist beendet`,
    paragraph: (title, why) => `Ihr Tarif ${title} ist beendet. ${why}`,
    why: {
      canceled: "Er wurde gekündigt.",
      unpaid: "Sein nächster Monat wurde nicht bezahlt.",
      reversed: "Seine Zahlung wurde zurückgenommen.",
      voucher: "Die Monate des Gutscheins sind vorbei.",
    },
    after:
      "Ihr Konto hat jetzt den Tarif Free mit dessen Limits. Ihr Guthaben und Ihre Schlüssel " +
      "bleiben, wie sie sind.",
  },
  refund: {
    subject: (part) => `Rückerstattung von ${part}`,
    paragraph: (part, whole) => `${part} Ihrer Zahlung von ${whole} werden erstattet.`,
    ofPlan: "Sie war für einen Tarif, deshalb bleibt Ihr Guthaben, wie es ist.",
    taken: "Der gleiche Teil des Guthabens und des Bonus wurde Ihrem Guthaben entnommen.",
    takenBefore: "Ihr Guthaben daraus wurde schon vorher entnommen.",
    failedSubject: (part) => `Eine Rückerstattung von ${part} ist fehlgeschlagen`,
    failed: (part) => `Eine Rückerstattung von ${part} ist bei Ihrer Bank fehlgeschlagen.`,
    givenBack: "Das Guthaben daraus ist wieder da.",
  },
  disputeOpened: {
    subject: "Eine Zahlung ist angefochten: Ihr Konto ist gesperrt",
    ofPlan: (amount) =>
      `Ihre Zahlung von ${amount} für einen Tarif ist bei Ihrer Bank angefochten. Aufrufe werden ` +
      "abgelehnt, bis die Anfechtung entschieden ist.",
    ofCredit: (amount) =>
      `Ihre Zahlung von ${amount} ist bei Ihrer Bank angefochten. Bis die Anfechtung entschieden ` +
      "ist, ist das Guthaben daraus entnommen, und Aufrufe werden abgelehnt.",
    withdraw:
      "Falls Sie die Zahlung nicht anfechten wollten, bitten Sie Ihre Bank, die Anfechtung " +
      "zurückzunehmen.",
  },
  disputeDecided: {
    lostSubject: "Eine Anfechtung ist entschieden: Das Guthaben bleibt entnommen",
    wonSubject: "Eine Anfechtung ist beendet: Ihr Guthaben ist wieder da",
    overSubject: "Eine Anfechtung ist beendet",
    lost: (amount, taken) =>
      `Die Anfechtung Ihrer Zahlung von ${amount} ist entschieden: Das Geld geht an Sie zurück, ` +
      "und " +
      `${taken} Guthaben bleiben entnommen. Wurde mehr verbraucht, als übrig ist, werden Aufrufe ` +
      "abgelehnt, bis eine Aufladung die Differenz bezahlt.",
    won: (amount, restored) =>
      `Die Anfechtung Ihrer Zahlung von ${amount} ist beendet. ${restored} Guthaben sind wieder ` +
      "da, " +
      "und Ihr Konto ist deswegen nicht mehr gesperrt.",
    over: (amount) =>
      `Die Anfechtung Ihrer Zahlung von ${amount} ist beendet. Die Zahlung ist erstattet, ` +
      "deshalb " +
      "kommt kein Guthaben zurück. Ihr Konto ist deswegen nicht mehr gesperrt.",
    planLostSubject: "Eine Anfechtung ist entschieden",
    planLost: (amount) =>
      `Die Anfechtung Ihrer Zahlung von ${amount} für einen Tarif ist entschieden: Das Geld geht ` +
      "an " +
      "Sie zurück.",
    planOver: (amount) =>
      `Die Anfechtung Ihrer Zahlung von ${amount} für einen Tarif ist beendet, und Ihr Konto ist ` +
      "deswegen nicht mehr gesperrt.",
  },
  lowBalance: {
    subject: (percent) => `Ihr Guthaben liegt unter ${percent} % Ihrer letzten Aufladung`,
    paragraph: (paid) =>
      `${paid} bezahltes Guthaben sind übrig. Aufrufe, die mehr kosten, werden abgelehnt, und ` +
      "für " +
      "sie wird nichts berechnet.",
  },
  freeEnding: {
    subject: (day) => `Ihr Freiguthaben endet am ${day}`,
    paragraph: (left, day) =>
      `${left} Freiguthaben sind übrig und enden am ${day} (UTC). Laden Sie Guthaben auf, um ` +
      "danach " +
      "fortzufahren.",
  },
  webhookDisabled: {
    subject: (host) => `Ihr Webhook bei ${host} wurde ausgeschaltet`,
    why: {
      gone: "Er hat mit 410 (Gone) geantwortet, was weitere Ereignisse abbestellt.",
      failing: "Er hat trotz vieler Versuche 24 Stunden lang kein Ereignis angenommen.",
    },
    after:
      "Er erhält keine Ereignisse mehr, bis Sie ihn wieder einschalten. Ereignisse der letzten " +
      "30 " +
      "Tage, die er nicht angenommen hat, können dann erneut gesendet werden.",
  },
  burnRate: {
    subject: (key) => `Ihr Schlüssel „${key}“ gibt schnell Geld aus`,
    paragraph: (key, spent) =>
      `Ihr Schlüssel „${key}“ hat in fünf Minuten ${spent} ausgegeben. Das ist mehr, als eine ` +
      "Ausgabenregel durchgehen lässt.",
    alert: "Am Schlüssel wurde nichts geändert: Seine Aufrufe gehen weiter.",
    slow: (requests, until) => `Bis ${until} sind mit ihm ${requests} Anfragen pro Minute möglich.`,
    pause: (until) =>
      `Er ist bis ${until} angehalten: Aufrufe, die etwas kosten, werden abgelehnt und nicht ` +
      "berechnet.",
    after: "Auf der Seite Ihrer Limits können Sie das früher beenden.",
  },
};
