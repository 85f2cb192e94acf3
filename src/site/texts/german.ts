// The texts of the front page, in German.

import type { SiteTexts } from "./english.ts";

export const germanSite: SiteTexts = {
  title: (service) => `${service}: Modelle, Suche, Karten und E-Mail mit einem API-Schlüssel`,
  about:
    "Modelle, Websuche, Karten und E-Mail mit einem Schlüssel, bezahlt aus einem Prepaid-Guthaben.",
  skip: "Zum Inhalt springen",
  main: "Hauptnavigation",
  language: "Sprache",
  prices: "Preise",
  docs: "Dokumentation",
  signIn: "Anmelden",
  signUp: "Registrieren",
  createAccount: "Konto erstellen",
  readDocs: "Zur Dokumentation",
  lead:
    "Einmal aufladen, alles aufrufen. Jeder Aufruf reserviert, was er höchstens kosten kann, " +
    "berechnet auf die letzte Stelle genau, was er gekostet hat, und gibt den Rest zurück. Ein " +
    "Guthaben fällt nie unter null.",
  receiptTitle: "Was ein Aufruf zu heutigen Preisen kostet",
  charged: "Berechnet",
  webSearch: "Websuche",
  lines: {
    tokensIn: "Eingabe-Tokens",
    tokensOut: "Ausgabe-Tokens",
    results: "Treffer",
    request: "Anfrage",
  },
  at: "zu",
  units: {
    million: "je Million Tokens",
    millionShort: "je Million",
    result: "je Treffer",
    request: "je Anfrage",
    calls: "für 1.000 Aufrufe",
    tiles: "für 1.000 Kartenkacheln",
    message: "je E-Mail",
    recipient: "je Empfänger",
  },
  sold: "Das Angebot",
  from: "ab",
  services: {
    chat: {
      title: "Chat",
      about:
        "Viele Modelle über eine API, am Stück oder als Stream, in den Formaten von OpenAI und " +
        "Anthropic.",
    },
    search: {
      title: "Suche",
      about: "Websuche, einzeln und im Stapel, bezahlt je Treffer.",
    },
    maps: { title: "Karten", about: "Orte, Routen, Verkehr, Wetter und Karten." },
    mail: {
      title: "E-Mail",
      about:
        "Transaktionsmails, versiegelt bis zur Zustellung, mit Meldung unzustellbarer Nachrichten.",
    },
  },
  models: "Modelle und Preise",
  modelsNote:
    "USD je Million Tokens, wie Aufrufe jetzt berechnet werden. Dieselbe Liste für Programme:",
  priceList: "Preisliste",
  columns: {
    model: "Modell",
    input: "Eingabe",
    cached: "Eingabe aus Cache",
    output: "Ausgabe",
  },
  none: "keiner",
  gap: " ",
  stop: ".",
  more: (count) => `Und ${count} ${count === 1 ? "weiteres" : "weitere"}:`,
  allModels: "alle Modelle",
  firstCall: "Der erste Aufruf",
  firstCallNote:
    "Clients der APIs von OpenAI und Anthropic funktionieren mit anderer Basis-URL und anderem " +
    "Schlüssel.",
};
