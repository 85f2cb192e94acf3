// Texts of the playground, in German.

import { nameOf } from "../../name-of.ts";
import type { Texts } from "../en/english.ts";
import { ROLES } from "./names.ts";

const STATUSES: Readonly<Record<string, string>> = {
  queued: "eingereiht",
  sent: "gesendet",
  failed: "fehlgeschlagen",
};

export const playgroundTexts: Texts["playground"] = {
  about: "Echte Aufrufe zu echten Preisen, aus diesem Guthaben bezahlt und unter den Anfragen.",
  forbidden: (role) =>
    `Aufrufe im Playground kosten Geld. Ihre Rolle hier ist ${nameOf(ROLES, role)}; nötig sind ` +
    "Rechte für die Abrechnung.",
  service: "Dienst",
  message: "Nachricht",
  send: "Senden",
  stop: "Anhalten",
  conversation: "Unterhaltung",
  who: { user: "Sie", assistant: "Modell" },
  noLines: "Noch nichts gesagt. Die Antwort erscheint, während sie geschrieben wird.",
  incomplete: "Füllen Sie die Felder aus, um den Preis zu sehen.",
  estimating: "Der Preis wird ermittelt …",
  holds: "Reserviert",
  atMost: "so viel kostet der Aufruf höchstens; was nicht gebraucht wird, kommt sofort zurück",
  cost: "Kosten:",
  cap: "Obergrenze eines Aufrufs",
  capAbout:
    "Freiwillig. Ein Chat wird gekürzt, bis er darunter bleibt; was nicht passt, wird abgelehnt.",
  query: "Suchanfrage",
  search: "Suchen",
  nothingFound: "Nichts gefunden; das kostet nichts.",
  ask: "Abfragen",
  picture: "Das Bild des Ortes",
  answer: "Die Antwort",
  subject: "Betreff",
  text: "Text",
  sendMail: "An mich senden",
  mailTo: (email) => `Die E-Mail geht an ${email}, Ihre eigene Adresse.`,
  mailSubject: "Eine E-Mail aus dem Playground",
  mailText: "Diese E-Mail wurde über die API gesendet.",
  broken:
    "Die Antwort ist abgebrochen. Berechnet wird, was davon angekommen ist; der Beleg zeigt, wie " +
    "viel.",
  mailSent: (status) => `Die E-Mail ist ${nameOf(STATUSES, status)}:`,
};
