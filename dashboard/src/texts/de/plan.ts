// Texts of the page of a plan, in German.

import type { Texts } from "../en/english.ts";

export const planTexts: Texts["plan"] = {
  about: "Was das Konto gleichzeitig darf. Aufrufe werden vom Guthaben bezahlt.",
  none: "Dieses Konto hat eine Stufe, die seinen Zahlungen folgt, und keinen Tarif.",
  toLimits: "Zu den Limits",
  now: (plan) => `Sie haben den Tarif ${plan}.`,
  price: "Preis im Monat",
  paidUntil: "Bezahlt bis",
  renews: "Verlängert sich am",
  due:
    "Der begonnene Monat ist nicht bezahlt. Die Karte wird drei Tage lang einmal am Tag " +
    "versucht; dann endet der Tarif.",
  unpayable: (day) =>
    "Hier kann zurzeit nichts bezahlt werden, darum wird nichts belastet. Ist das drei Tage nach " +
    `dem ${day} noch so, endet der Tarif.`,
  ends: "Endet am",
  after: "Danach kommt",
  ended: {
    canceled: "Ihr letzter Tarif wurde gekündigt.",
    unpaid: "Ihr letzter Tarif endete, weil sein Monat nicht bezahlt wurde.",
    reversed: "Ihr letzter Tarif endete, weil seine Zahlung zurückgenommen wurde.",
    operator: "Ihr letzter Tarif wurde vom Betreiber beendet.",
    closed: "Ihr letzter Tarif endete mit dem Konto.",
    voucher: "Die Monate des Tarifs aus Ihrem Gutschein sind vorbei.",
  },
  open: "Eine Zahlung für den Tarif läuft; sie wird bald entschieden.",
  columns: { plan: "Tarif", price: "Im Monat" },
  contains: (requests, calls) => `${requests} Anfragen pro Minute, ${calls} Aufrufe gleichzeitig`,
  noPrice: "vom Betreiber",
  free: "kostenlos",
  yours: "Ihrer",
  choose: "Wählen",
  chooseOf: (plan) => `${plan} wählen`,
  keep: "Behalten",
  needsCard:
    "Tarife werden mit einer gespeicherten Karte bezahlt. Laden Sie einmal Guthaben auf und " +
    "speichern Sie dabei die Karte.",
  noProvider: "Tarife setzt hier der Betreiber: Auf dieser Seite kann nichts bezahlt werden.",
  title: (plan) => `Zu ${plan} wechseln?`,
  charged: (usd) => `Die Karte wird jetzt mit ${usd} belastet.`,
  plusTax: "Steuer kommt hinzu.",
  later: (day) =>
    `Jetzt wird nichts belastet. Der Tarif beginnt nach dem bezahlten Monat, am ${day}.`,
  keepAbout: "Der Tarif geht nach dem bezahlten Monat weiter. Jetzt wird nichts belastet.",
  freeChange: "Jetzt wird nichts belastet, und der Tarif beginnt sofort.",
  monthly: (usd) => `Danach kostet er ${usd} im Monat.`,
  order: "Zahlungspflichtig bestellen",
  change: "Tarif wechseln",
  done: "Der Tarif ist gewechselt.",
  waits: "Die Zahlung läuft. Der Tarif wechselt, sobald sie bezahlt ist.",
  cancel: "Tarif kündigen",
  cancelTitle: "Tarif kündigen?",
  cancelAbout: (day) => `Er läuft noch bis ${day} und wird nicht mehr belastet.`,
  cancelNow: "Sein Monat ist nicht bezahlt, darum endet er sofort.",
  canceled: "Der Tarif ist gekündigt.",
};
