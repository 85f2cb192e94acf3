// Texts of the webhooks, in German.

import type { WebhookEventType } from "../../../../src/core/webhooks/webhook-events.ts";
import type { Texts } from "../en/english.ts";

const TYPES: Readonly<Record<WebhookEventType, string>> = {
  "balance.low":
    "Das bezahlte Guthaben fiel unter 20 oder 5 % der letzten Aufladung: je einmal bis zur " +
    "nächsten.",
  "balance.empty":
    "Das bezahlte Guthaben fiel unter einen Cent: einmal bis zur nächsten Aufladung.",
  "free_credit.ending": "Übriges Freiguthaben läuft innerhalb von sieben Tagen ab.",
  "topup.succeeded": "Eine Aufladung oder der Preis eines Tarifs wurde bezahlt.",
  "topup.failed":
    "Die Karte wurde abgelehnt, oder die Zahlung passte nicht; eine automatische Aufladung wird " +
    "vielleicht wiederholt.",
  "payment.succeeded": "Eine Zahlung wurde gebucht, von einem Anbieter oder vom Betreiber.",
  "payment.refunded": "Der erstattete Teil einer Zahlung hat sich geändert.",
  "payment.disputed": "Eine Zahlung wurde angefochten, oder eine Anfechtung wurde entschieden.",
  "key.budget_reached":
    "Ein Budget eines Schlüssels hat einen Aufruf abgelehnt: je UTC-Tag einmal.",
  "key.burn_rate":
    "Eine Ausgabenregel hat bemerkt, dass ein Schlüssel schnell Geld ausgibt: einmal, bis er " +
    "wieder langsamer ist.",
  "run.budget_reached":
    "Das Budget eines Laufs hat einen Aufruf abgelehnt: je Lauf und UTC-Tag einmal.",
  "run.paused": "Ein Lauf wurde angehalten: Er lehnt Aufrufe ab, bis er fortgesetzt wird.",
  "run.resumed": "Ein angehaltener Lauf nimmt wieder Aufrufe an.",
  "run.changed": "Ein Lauf bekam ein anderes Budget oder ein anderes Ende.",
  "run.ended": "Die Zeit eines Laufs ist vorbei, und sein letzter Aufruf ist abgerechnet.",
  "limit.reached":
    "Ein anderes Limit hat einen Aufruf abgelehnt (Anfragen, Streams, E-Mail, Guthaben, " +
    "Obergrenze " +
    "oder Budget des Kontos): je Limit, Schlüssel und UTC-Tag einmal.",
  "mail.bounced": "Eine von Ihnen gesendete E-Mail kam zurück.",
};

export const webhookTexts: Texts["webhooks"] = {
  about: "Ihre Adressen, die erfahren, was mit diesem Konto geschieht.",
  add: "Webhook hinzufügen",
  none: "Noch keine Webhooks",
  noneAbout: "Fügen Sie einen hinzu, und senden Sie ihm ein Testereignis.",
  columns: {
    url: "Adresse",
    events: "Ereignisse",
    state: "Status",
    delivered: "Zuletzt zugestellt",
  },
  state: {
    on: "eingeschaltet",
    failing: (since) => `schlägt fehl seit ${since}`,
    holder: "ausgeschaltet",
    operator: "vom Betreiber ausgeschaltet",
    gone: "ausgeschaltet: antwortete mit 410",
    failing24: "ausgeschaltet: nahm 24 Stunden lang nichts an",
  },
  test: "Testen",
  testSent: "Ein Testereignis ist unterwegs. Das Protokoll zeigt, was daraus wurde.",
  change: "Ändern",
  title: "Webhook ändern",
  url: "Adresse",
  urlAbout: "https, auf Port 443 oder 8443",
  urlPlaceholder: "https://example.com/hooks/farebox",
  note: "Notiz",
  notePlaceholder: "production",
  types: "Ereignisse",
  typeAbout: (type) => TYPES[type],
  enabled: "Ereignisse an ihn senden",
  changed: "Der Webhook ist geändert.",
  secretTitle: "Das Geheimnis Ihres Webhooks",
  secretAbout:
    "Es wird nur dieses eine Mal angezeigt. Ihr Programm prüft damit, dass ein Ereignis von uns " +
    "ist.",
  secretLabel: "Das Geheimnis",
  stored: "Ich habe es gesichert",
  rotate: "Geheimnis erneuern",
  rotateTitle: "Geheimnis erneuern?",
  rotateAbout:
    "Ereignisse werden mit dem neuen Geheimnis und 24 Stunden lang auch mit dem bisherigen " +
    "signiert. Geben Sie Ihrem Programm inzwischen das neue.",
  remove: "Löschen",
  removeTitle: "Webhook löschen?",
  removeAbout: "Er erhält keine Ereignisse mehr, und sein Protokoll wird gelöscht.",
  removed: "Der Webhook ist gelöscht.",
  replay: "Fehlgeschlagene erneut senden",
  replayTitle: "Fehlgeschlagene Ereignisse erneut senden?",
  replayAbout: "Jedes behält seine ID. Die ältesten zuerst, höchstens 1.000 auf einmal.",
  replaySince: "Geschehen in der letzten Zeit",
  replayed: (count) =>
    count === 1
      ? "1 Ereignis wird erneut gesendet."
      : `${count} Ereignisse werden erneut gesendet.`,
  spans: { hour: "1 Stunde", day: "1 Tag", week: "1 Woche", month: "30 Tage" },
  log: "Zustellungen",
  logAbout: "30 Tage lang aufbewahrt",
  logNone: "Es wurde noch nichts gesendet.",
  status: {
    all: "Alle",
    waiting: "Wartend",
    delivered: "Zugestellt",
    failed: "Fehlgeschlagen",
  },
  statusLabel: "Status",
  logColumns: {
    at: "Geschehen",
    event: "Ereignis",
    to: "An",
    status: "Status",
    attempts: "Versuche",
    answer: "Letzte Antwort",
  },
  again: "Erneut senden",
  sentAgain: "Das Ereignis wird erneut gesendet.",
  noAnswer: "keine",
  milliseconds: (count) => `${count} ms`,
  next: (time) => `nächster Versuch ${time} UTC`,
};
