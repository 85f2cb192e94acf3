// The texts of the pages where a payment is made, in German.

import { toDollars } from "../../../core/money/money.ts";
import { GERMAN_CONSENTS } from "../../../core/money/translated-consents.ts";
import type { SandboxTexts } from "./english.ts";

export const germanSandbox: SandboxTexts = {
  notice: "Dies ist die Sandbox von Farebox. Sie ist nicht Stripe, und es fließt kein echtes Geld.",
  language: "Sprache",
  usd: (amount) => `${toDollars(amount).replace("$", "").replace(".", ",")}\u00a0$`,
  pay: (amount) => `${amount} bezahlen`,
  testCard: "Testkarte",
  cards: {
    accepted: "wird angenommen, jetzt und später",
    declined: "wird abgelehnt",
    laterDeclined: "wird jetzt angenommen und bei einer späteren Belastung abgelehnt",
    laterHolder: "wird jetzt angenommen; eine spätere Belastung muss ihr Inhaber bestätigen",
    insufficientFunds: "wird mangels Deckung abgelehnt",
    disputed: "wird angenommen, und die Zahlung wird sofort angefochten",
    fraudWarning: "wird angenommen, und die Bank warnt, sie könnte gestohlen sein",
    refundFails: "wird angenommen, und eine Rückerstattung auf sie scheitert",
  },
  consents: GERMAN_CONSENTS,
  line: (name, amount) => `${name}: ${amount}`,
  credit: "Prepaid-Guthaben",
  fee: "Zahlungsgebühr",
  plan: (title) => `Tarif ${title}`,
  tax: "Steuer",
  backUnpaid: "Zurück, ohne zu bezahlen",
  closed: {
    complete: "Diese Seite ist bezahlt.",
    expired: "Diese Seite ist abgelaufen.",
  },
  paidTitle: "Bezahlt",
  paid: "Die Zahlung war erfolgreich. Es ist kein echtes Geld geflossen.",
  back: "Zurück",
  allPayments: "Alle Zahlungen",
  receipt: "Beleg",
  invoice: "Rechnung",
  creditNote: "Gutschrift",
  problems: {
    card_declined: "Die Karte wurde abgelehnt.",
    incorrect_number: "Die Sandbox kennt nur ihre eigenen Testkarten.",
  },
  notFoundTitle: "Nicht gefunden",
  notFound: "Diese Seite gibt es nicht.",
};
