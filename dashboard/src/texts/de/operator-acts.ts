// Texts of the changes of operators, in German.

import type { OperatorTexts } from "../en/operator.ts";

export const operatorActs: OperatorTexts["acts"] = {
  credit: {
    open: "Zahlung gutschreiben",
    title: "Zahlung erfassen und gutschreiben",
    about: "Für Geld, das auf anderem Weg kam. Es zählt für die Stufe.",
    action: "Gutschreiben",
  },
  adjust: {
    open: "Guthaben korrigieren",
    title: "Bezahltes Guthaben korrigieren",
    about: "Ein Minus zieht ab, höchstens was da ist. Es zählt für keine Stufe.",
    action: "Korrigieren",
  },
  forgive: {
    open: "Offenen Betrag erlassen",
    title: "Offenen Betrag erlassen",
    about: "Bis zu diesem Betrag von dem, was zurückgenommene Zahlungen offen ließen.",
    action: "Erlassen",
  },
  refund: {
    open: "Erstatten",
    title: "Zahlung erstatten",
    about: "Beim Zahlungsanbieter, wenn sie einen hat. Ohne Betrag wird der ganze Rest erstattet.",
    action: "Erstatten",
  },
  suspend: {
    open: "Sperren",
    title: "Dieses Konto sperren",
    about:
      "Jeder Aufruf wird sofort abgelehnt. Die Schlüssel bleiben; nur ein Betreiber hebt die " +
      "Sperre auf.",
    action: "Sperren",
  },
  resume: {
    open: "Entsperren",
    title: "Dieses Konto entsperren",
    about: "Aufrufe werden wieder beantwortet. Eine Sperre wegen offener Anfechtung bleibt.",
    action: "Entsperren",
  },
  close: {
    open: "Endgültig schließen",
    title: "Dieses Konto endgültig schließen",
    about:
      "Alle Schlüssel werden widerrufen, und nichts öffnet das Konto wieder. Erstatten Sie " +
      "vorher, was übrig ist.",
    action: "Endgültig schließen",
  },
  grant: {
    open: "Freiguthaben gewähren",
    title: "Freiguthaben gewähren",
    about: "Das Freiguthaben, das dieses Konto bei der Registrierung nicht bekam; einmal.",
    action: "Gewähren",
  },
  contract: {
    open: "Enterprise-Vertrag",
    title: "Vertrag ändern",
    about: "Die Stufe Enterprise oder die Stufe, die aus den Zahlungen folgt.",
    action: "Speichern",
  },
  plan: {
    open: "Tarif ändern",
    title: "Tarif ändern",
    about: "Die Limits des neuen Tarifs gelten ab dem nächsten Aufruf.",
    action: "Speichern",
  },
  pause: {
    open: "Pausieren",
    title: "Dienst oder Modell pausieren",
    about: "Alle Prozesse lehnen die Aufrufe mit 503 ab; berechnet wird nichts.",
    action: "Pausieren",
  },
  resumeTarget: {
    open: "Fortsetzen",
    title: "Dienst oder Modell fortsetzen",
    about: "Alle Prozesse beantworten die Aufrufe wieder.",
    action: "Fortsetzen",
  },
  mails: {
    open: "Alle jetzt versuchen",
    title: "Alle wartenden E-Mails jetzt versuchen",
    about: "Fehlgeschlagene werden einzeln erneut gesendet.",
    action: "Jetzt versuchen",
  },
  mail: {
    open: "Jetzt versuchen",
    title: "Diese E-Mail jetzt versuchen",
    about: "Der nächste Versuch folgt in wenigen Sekunden.",
    action: "Jetzt versuchen",
  },
  resend: {
    open: "Erneut senden",
    title: "Diese E-Mail erneut senden",
    about: "Dieselbe E-Mail an dieselbe Adresse, weitere 24 Stunden lang versucht.",
    action: "Erneut senden",
  },
  replay: {
    open: "Erneut verarbeiten",
    title: "Dieses Ereignis erneut verarbeiten",
    about: "Das Objekt dazu wird neu gelesen. Gebuchtes wird nicht doppelt gebucht.",
    action: "Erneut verarbeiten",
  },
  rejected: {
    open: "Erneut schreiben",
    title: "Abgewiesene Einträge erneut schreiben",
    about: "Geschrieben wird, was inzwischen zu den Buchungen passt; der Rest bleibt stehen.",
    action: "Erneut schreiben",
  },
  rollback: {
    open: "In Kraft setzen",
    title: "Diese Version wieder in Kraft setzen",
    about: "Alle Prozesse übernehmen sie in Sekunden. Offene Aufrufe behalten ihre Preise.",
    action: "In Kraft setzen",
  },
  audit: {
    open: "Alle Konten prüfen",
    title: "Alle Konten prüfen",
    about: "Ein Worker gleicht Buchungen, Journal und Wallets ab. Er ändert nichts.",
    action: "Prüfen",
  },
  auditOne: {
    open: "Prüfen",
    title: "Dieses Konto prüfen",
    about: "Ein Worker gleicht Buchungen, Journal und Wallet ab. Er ändert nichts.",
    action: "Prüfen",
  },
  makeVouchers: {
    open: "Serie erstellen",
    title: "Gutscheinserie erstellen",
    about: "Codes, die einem Konto einmal Guthaben oder einen Tarif geben. Keine Zahlung.",
    action: "Codes speichern und freischalten",
  },
  endVouchers: {
    open: "Beenden",
    title: "Codes einer Serie beenden",
    about: "Niemand kann sie mehr einlösen. Eingelöstes bleibt bestehen.",
    action: "Codes beenden",
  },
};

export const operatorDeeds: OperatorTexts["deeds"] = {
  credit: "Zahlung gutgeschrieben",
  adjust: "Guthaben korrigiert",
  forgive: "Offenen Betrag erlassen",
  refund: "Zahlung erstattet",
  suspend: "Konto gesperrt",
  resume: "Wieder freigegeben",
  close: "Konto geschlossen",
  grant_free: "Freiguthaben gewährt",
  plan: "Tarif geändert",
  contract: "Vertrag geändert",
  pause: "Pausiert",
  configuration: "Konfiguration in Kraft gesetzt",
  make_vouchers: "Gutscheine erstellt",
  end_vouchers: "Gutscheine beendet",
  retry_mail: "E-Mail erneut versucht",
  resend_mail: "E-Mail erneut gesendet",
  replay_event: "Ereignis erneut verarbeitet",
  retry_rejected: "Einträge erneut geschrieben",
  sign_in: "Anmeldeweg geändert",
  audit: "Prüfung",
};
