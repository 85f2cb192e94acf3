// Every text of the pages, in German.

import { nameOf } from "../../name-of.ts";
import type { Texts } from "../en/english.ts";
import { billingTexts } from "./billing.ts";
import { entryTexts } from "./entry.ts";
import { ROLES, SCOPES, SERVICES } from "./names.ts";
import { peopleTexts } from "./people.ts";
import { planTexts } from "./plan.ts";
import { playgroundTexts } from "./playground.ts";
import { refusalTexts } from "./refusals.ts";
import { usageTexts } from "./usage.ts";
import { webhookTexts } from "./webhooks.ts";
import { workTexts } from "./work.ts";

export const texts: Texts = {
  nav: {
    label: "Hauptnavigation",
    skip: "Zum Inhalt springen",
    menu: "Navigation öffnen",
    accounts: "Konten",
    you: "Ihre Einstellungen",
    support: "Hilfe anfragen",
    groups: { top: "", build: "Entwicklung", account: "Konto" },
    pages: {
      overview: "Übersicht",
      usage: "Nutzung",
      requests: "Anfragen",
      keys: "Schlüssel",
      models: "Modelle",
      playground: "Playground",
      webhooks: "Webhooks",
      billing: "Abrechnung",
      statement: "Monatsabrechnung",
      plan: "Tarif",
      limits: "Limits",
      team: "Team",
      settings: "Einstellungen",
    },
    docs: "Dokumentation",
    scheme: { light: "Hell", dark: "Dunkel", auto: "Wie das System" },
    schemeLabel: "Farben",
    language: "Sprache",
    signOut: "Abmelden",
    newAccount: "Neues Anwendungskonto",
    surfaces: { gateway: "Gateway", application: "Application API" },
    roles: ROLES,
  },
  sentences: (sentences) => sentences.join(" "),
  pair: (name, value) => `${name}: ${value}`,
  list: (names) => names.join(", "),
  signed: {
    receipt: "Signierter Beleg",
    about: "Nachweis der Kosten dieses Aufrufs. Der Text bleibt immer derselbe.",
    number: (number: number) => `Beleg Nr. ${number}`,
    corrects: (number: number) => `korrigiert Nr. ${number}`,
    save: "Als JSON speichern",
    verify: "So wird er geprüft",
  },
  statement: {
    earlier: "Monat davor",
    later: "Monat danach",
    print: "Drucken oder als PDF speichern",
    account: "Konto",
    id: "ID",
    from: "Von",
    to: "Bis (ausschließlich)",
    state: "Stand",
    over: "der Monat ist vorbei",
    running: "der Monat läuft noch",
    balances: "Guthaben",
    opening: "Zu Beginn",
    closing: "Am Ende",
    owed: "Offen am Ende",
    columns: { what: "Was", count: "Anzahl", paid: "Bezahltes Guthaben", free: "Freiguthaben" },
    charges: "Kosten der Aufrufe",
    charged: (count: string) => `${count} berechnete Aufrufe; ihre Belege ergeben diese Summe`,
    noCharges: "In diesem Monat wurde kein Aufruf berechnet.",
    chargeColumns: {
      service: "Dienst",
      model: "Modell oder Aktion",
      free: "Aus Freiguthaben",
      cost: "Kosten",
    },
    signature: "Signatur",
    signed: "Die ganze Abrechnung, signiert von diesem Dienst. Sie lässt sich offline prüfen.",
  },
  actions: {
    retry: "Erneut versuchen",
    cancel: "Abbrechen",
    close: "Schließen",
    copy: "Kopieren",
    copied: "Kopiert",
    save: "Speichern",
    saved: "Gespeichert",
    docs: "Dokumentation",
    addCredit: "Guthaben aufladen",
    continue: "Weiter",
    clear: "Zurücksetzen",
  },
  states: {
    loading: "Wird geladen",
    failed: "Das konnte nicht geladen werden",
    mayBeDone:
      "Möglicherweise wurde es trotzdem ausgeführt: Sehen Sie nach, bevor Sie es erneut versuchen.",
    delayed: (time) => `Verzögert: Die Zahlen sind von ${time} Uhr UTC.`,
    asOfLoading: "Zahlen werden geladen …",
    asOf: (time, zone, behind) => `Stand ${time} ${zone}, ${behind} s zurück`,
    none: "keine",
    never: "nie",
    noRows: "Hier ist nichts.",
    unreachable:
      "Der Server ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.",
    unreadable: "Der Server hat eine Antwort gesendet, die diese Seite nicht lesen kann.",
    newVersion: "Diese Seite wurde aktualisiert, während sie offen war. Laden Sie sie neu.",
    reload: "Neu laden",
    missing: "Diese Seite gibt es nicht",
    missingAbout: "Die Adresse enthält vielleicht einen Tippfehler, oder die Seite ist umgezogen.",
    toOverview: "Zur Übersicht",
    noAccount: "Sie gehören zu keinem Konto",
    noAccountAbout:
      "Lassen Sie sich von einem Inhaber einladen, oder bestätigen Sie Ihre E-Mail-Adresse, wenn " +
      "Sie sich gerade registriert haben.",
    forbidden: (role) =>
      `Ihre Rolle hier ist ${nameOf(ROLES, role)}; das dürfen Administratoren und Inhaber.`,
  },
  times: {
    now: "gerade eben",
    minutesAgo: (count) => `vor ${count} Min.`,
    hoursAgo: (count) => `vor ${count} Std.`,
    daysAgo: (count) => (count === 1 ? "gestern" : `vor ${count} Tagen`),
  },
  fields: {
    wrongAmount: "Ein Betrag wie 25 oder 12,50",
    typeToConfirm: (text) => `Geben Sie zur Bestätigung ${text} ein`,
  },
  balance: {
    spendable: "Jetzt verfügbar",
    nothing: "Kein Guthaben",
    parts: {
      paid: "Bezahlt",
      free: "Freiguthaben, nur für Modelle",
      held: "Von offenen Aufrufen reserviert",
      owed: "Offen",
    },
    freeUntil: (day) => `Freiguthaben, nur für Modelle, bis ${day}`,
    lotUntil: (day) => `bis ${day}`,
    limits: {
      balance: "Das Guthaben",
      tier_cap: "Begrenzt durch die monatliche Obergrenze Ihrer Stufe.",
      own_cap: "Begrenzt durch Ihre eigene monatliche Obergrenze.",
      budget: "Begrenzt durch ein Budget des Kontos.",
      owed: "Aufrufe werden abgelehnt, bis der offene Betrag bezahlt ist.",
      inactive: "Aufrufe werden abgelehnt: Das Konto ist nicht aktiv.",
    },
  },
  keyboard: {
    title: "Tastatur",
    keys: {
      "/": "Zu einer Seite oder Anfrage springen",
      n: "Neuer Schlüssel",
      "?": "Diese Liste",
      Esc: "Schließen",
    },
    jump: "Gehe zu",
    jumpPlaceholder: "Eine Seite oder die ID einer Anfrage",
    openRequest: (id) => `Anfrage ${id} öffnen`,
    nothing: "Nichts gefunden",
  },
  services: SERVICES,
  scopes: SCOPES,
  entry: entryTexts,
  people: peopleTexts,
  billing: billingTexts,
  plan: planTexts,
  usage: usageTexts,
  work: workTexts,
  playground: playgroundTexts,
  webhooks: webhookTexts,
  refusals: refusalTexts,
};
