// Texts of billing, in German.

import { GERMAN_FAILURES } from "../../../../src/core/money/payment-failures.ts";
import { GERMAN_CONSENTS } from "../../../../src/core/money/translated-consents.ts";
import { moneyText } from "../../money.ts";
import { nameOf } from "../../name-of.ts";
import { countText } from "../../numbers.ts";
import type { Texts } from "../en/english.ts";
import { ROLES } from "./names.ts";

export const billingTexts: Texts["billing"] = {
  forbidden: (role) =>
    `Ihre Rolle hier ist ${nameOf(ROLES, role)}; bezahlen kann, wer Rechte für die Abrechnung hat.`,
  noProvider:
    "Diese Installation hat keinen Zahlungsanbieter. Der Betreiber erfasst Zahlungen von Hand.",
  sandbox:
    "Zahlungen laufen in einer Sandbox: Es fließt kein echtes Geld. Die Karte 4242 4242 4242 " +
    "4242 " +
    "zahlt, 4000 0000 0000 0002 wird abgelehnt.",
  owedHow:
    "Eine Zahlung wurde zurückgenommen, nachdem ihr Guthaben verbraucht war. Laden Sie Guthaben " +
    "auf: Damit wird zuerst der offene Betrag bezahlt, und Aufrufe gehen sofort wieder.",
  caps: {
    title: "Limits für Aufladungen",
    now: "Jetzt höchstens",
    min: "Mindestens",
    once: "Eine Aufladung",
    day: "In 24 Stunden",
    autoMonth: "Automatisch im Monat",
    fee: "Gebühr",
    tax: "Steuer",
  },
  taxAdded: "kommt beim Zahlungsanbieter zu Ihrem Betrag hinzu",
  fee: ({ percent, fixed_usd: fixed }) => `${countText(percent)} % + ${moneyText(fixed)}`,
  amount: "Guthaben in USD",
  payWith: "Zahlen mit",
  otherCard: "Karte auf der Zahlungsseite",
  saveCard: "Karte speichern",
  saveCardAbout: "Für spätere Aufladungen, die Sie auslösen oder unten einschalten.",
  toPage: "Zur Zahlungsseite",
  payNow: "Jetzt zahlen",
  youPay: "Sie zahlen",
  youGet: "Sie erhalten",
  plusTax: "zzgl. Steuer",
  bonusOnTop: "Bonus dazu, für die erste Zahlung",
  ofItFee: "Darin Gebühr",
  paysOwed: "Bezahlt offenen Betrag",
  tooSmall: (least) => `Mindestens ${least}`,
  tooLarge: (most) => `Jetzt höchstens ${most}`,
  noPage: "Der Zahlungsanbieter hat keine Zahlungsseite geliefert. Versuchen Sie es erneut.",
  declined: (why) =>
    why === null
      ? "Die Karte wurde abgelehnt. Es wurde nichts belastet."
      : `Die Karte wurde abgelehnt: ${why}`,
  lostAnswer:
    "Es ist nicht bekannt, ob die Karte belastet wurde. Zahlen Sie noch einmal: Diese Bestellung " +
    "wird nie doppelt belastet. Sehen Sie bei den Zahlungen nach, bevor Sie eine neue auslösen.",
  earlierOrder:
    "Eine Bestellung mit einem anderen Betrag war schon angenommen, diese deshalb nicht. Sehen " +
    "Sie " +
    "bei den Zahlungen nach, und zahlen Sie erneut, wenn Sie beide möchten.",
  credited: (amount) => `${amount} wurden Ihrem Guthaben hinzugefügt.`,
  returned: {
    open: (amount) => `Die Zahlung von ${amount} ist noch nicht bestätigt …`,
    succeeded: (amount) => `${amount} wurden Ihrem Guthaben hinzugefügt.`,
    failed: (amount) => `Die Zahlung von ${amount} ist fehlgeschlagen; es wurde nichts belastet.`,
    expired: (amount) => `Die Zahlung von ${amount} wurde nicht abgeschlossen.`,
  },
  returnedUnknown: "Der Stand Ihrer Zahlung ist noch nicht bekannt; diese Seite fragt erneut nach.",
  underWay: "Die Zahlung läuft; das Guthaben folgt, sobald sie bestätigt ist.",
  cards: "Gespeicherte Karten",
  card: "Karte",
  noCards:
    "Es ist keine Karte gespeichert. Auf Wunsch wird eine gespeichert, wenn Sie Guthaben aufladen.",
  cardFacts: (expires, saved) => `bis ${expires} · gespeichert ${saved}`,
  removeCard: "Entfernen",
  removeCardTitle: (card) => `${card} entfernen?`,
  removeCardAbout:
    "Sie wird auch beim Zahlungsanbieter gelöscht. Eine automatische Aufladung mit ihr pausiert.",
  cardRemoved: "Die Karte ist entfernt.",
  autoAbout:
    "Fällt das Guthaben unter die Schwelle, wird eine gespeicherte Karte belastet und das " +
    "Guthaben sofort hinzugefügt.",
  autoNeedsCard:
    "Dafür ist eine gespeicherte Karte nötig: Laden Sie einmal auf und speichern Sie die Karte.",
  autoNotInTier: "Ab Ihrer ersten Zahlung verfügbar.",
  autoOn: "Einschalten",
  autoOff: "Ausschalten",
  autoOffTitle: "Automatische Aufladung ausschalten?",
  autoOffAbout:
    "Ohne Sie wird keine Karte mehr belastet. Aufrufe enden, wenn das Guthaben verbraucht ist.",
  autoChange: "Ändern",
  autoResume: "Prüfen und fortsetzen",
  autoSaved: "Die automatische Aufladung ist eingeschaltet.",
  autoPaused: (reason) =>
    `Sie pausiert${reason === null ? "" : ` (${reason})`}. Prüfen Sie die Karte und setzen Sie ` +
    "sie " +
    "dann fort.",
  consent(version, words) {
    const known: Readonly<Record<string, string>> = GERMAN_CONSENTS;
    return known[version] ?? words;
  },
  autoAmount: "Betrag je Aufladung",
  autoCharged: "Die Karte wird jedes Mal belastet mit:",
  autoBelow: "Wenn das Guthaben fällt unter",
  autoCap: "Höchstens im Monat (UTC)",
  autoCaps: (once, month) => `Ihre Stufe erlaubt ${once} je Aufladung und ${month} im Monat.`,
  payments: "Zahlungen",
  paymentsAbout: "Zeiten in UTC",
  paymentsCut: (most) =>
    `Die neuesten ${most} Zahlungen und Aufladungen; die Buchungen unten zeigen alles, was das ` +
    "Guthaben verändert hat.",
  noPayments: "Noch keine Zahlungen",
  noPaymentsAbout: "Hier steht jede Aufladung mit ihrem Beleg.",
  payment: "Zahlung",
  bonus: "Bonus",
  refund: "Rückerstattung",
  dispute: "Anfechtung",
  receipt: "Beleg",
  documents: {
    open: "Rechnung",
    title: "Rechnung und Gutschriften",
    none: "Zu dieser Zahlung gibt es keine Rechnung.",
    kinds: { invoice: "Rechnung", credit_note: "Gutschrift" },
  },
  reasons: { provider: "vom Zahlungsanbieter" },
  voucher: {
    reason: (batch) => `Gutschein ${batch}`,
    title: "Gutschein einlösen",
    about:
      "Der Gutschein erhöht das Guthaben dieses Kontos oder gibt ihm Freiguthaben für Modelle " +
      "oder einen Tarif, jeweils mit einem Ende.",
    code: "Gutscheincode",
    redeem: "Einlösen",
    redeemed: (usd) => `${usd} wurden Ihrem Guthaben hinzugefügt.`,
    redeemedFree: (usd, day) => `${usd} Freiguthaben kamen hinzu, gültig bis ${day}.`,
    redeemedPlan: (plan, day) => `Sie haben den Tarif ${plan} bis ${day}.`,
    repeated: "Dieses Konto hatte den Gutschein schon eingelöst; es kam nichts hinzu.",
  },
  goOn: "Weiter zur Zahlung",
  plusFee: (fee) => `zzgl. ${fee} Gebühr`,
  plusPaidTax: (tax) => `zzgl. ${tax} Steuer`,
  columns: {
    at: "Wann (UTC)",
    what: "Was",
    state: "Status",
    receipt: "Beleg",
    amount: "Guthaben",
  },
  kinds: {
    checkout: "Aufladung",
    card: "Aufladung mit gespeicherter Karte",
    auto: "Automatische Aufladung",
    plan: "Tarif",
  },
  states: {
    open: "offen",
    succeeded: "bezahlt",
    failed: "fehlgeschlagen",
    expired: "nicht bezahlt",
    refunded: "erstattet",
  },
  failures: GERMAN_FAILURES,
  disputes: { open: "offen", won: "zu Ihren Gunsten entschieden", lost: "verloren" },
  ledger: "Buchungen",
  ledgerKind: "Angezeigte Buchungen",
  ledgerKinds: { operations: "Ohne Aufrufe", all: "Alle" },
  noEntries: "Dieses Guthaben wurde noch nicht verändert.",
  ledgerColumns: {
    at: "Wann (UTC)",
    what: "Was",
    about: "Zu",
    amount: "Änderung",
    paid: "Bezahlt danach",
    free: "Frei danach",
    owed: "Offen danach",
  },
  entries: {
    charge: "Aufruf",
    late_charge: "Aufruf, nachträglich berechnet",
    credit: "Gutschrift",
    bonus: "Bonus",
    reversal: "Zurückgenommen",
    restore: "Zurückgegeben",
    adjustment: "Korrektur",
    forgiven: "Erlassen",
    repayment: "Offenen Betrag bezahlt",
    free_expired: "Freiguthaben abgelaufen",
  },
};
