// Refusals and failures by their codes, in German.

import { type RefusalTexts, refusalTextsOf } from "../refusal-texts.ts";

const RETRY = "Versuchen Sie es nach einer Pause erneut.";
const FREE = "Es wurde nichts berechnet.";

export const refusalTexts: RefusalTexts = refusalTextsOf({
  gap: " ",
  summary:
    "Mehrere Anfragen eines Schlüssels wurden in dieser Minute abgelehnt und stehen in einer " +
    "Zeile.",
  expired: "Der Server dieses Aufrufs ist ausgefallen. Berechnet wurde, was bis dahin anfiel.",
  refused: (code) => `Abgelehnt: ${code}.`,
  failed: (code) => `Fehlgeschlagen: ${code}.`,
  limit: (limit) => `Das Limit: ${limit}.`,
  limits: {
    requests: "die Anfragen des Schlüssels oder des Kontos in 60 Sekunden oder einem UTC-Tag",
    budget: "das monatliche Budget des Schlüssels",
    cap: "die monatliche Obergrenze des Kontos",
    budget_5h: "ein Budget für fünf Stunden",
    budget_day: "ein Budget für den UTC-Tag",
    budget_week: "ein Budget für die Woche",
    budget_total: "ein Budget für die gesamte Zeit",
    budget_month: "ein Budget für den UTC-Monat",
    run: "das Budget des Laufs",
    balance: "das Guthaben, das andere Aufrufe nicht reserviert hatten",
    streams: "die Streams, die gleichzeitig offen sein dürfen",
    calls: "die Aufrufe, die gleichzeitig offen sein dürfen",
    tokens: "die Tokens des Schlüssels in 60 Sekunden",
    tokens_day: "die Tokens des Schlüssels an einem UTC-Tag",
    minute: "die E-Mails einer Minute",
    day: "die Empfänger oder die Idempotency-Keys eines Tages",
  },
  help: {
    insufficient_credits:
      "Laden Sie Guthaben auf, oder fordern Sie weniger Ausgabe-Tokens an: Reserviert wird, was " +
      "der " +
      "Aufruf höchstens kosten kann.",
    key_budget_exceeded:
      "Erhöhen Sie das Budget des Schlüssels, warten Sie, bis es sich erneuert, oder verwenden " +
      "Sie " +
      "einen anderen Schlüssel.",
    account_budget_exceeded:
      "Erhöhen Sie das Budget des Kontos, oder warten Sie, bis es sich erneuert.",
    run_budget_exceeded:
      "Erhöhen Sie das Budget des Laufs, oder fordern Sie weniger Ausgabe-Tokens an; senden Sie " +
      "den Aufruf dann erneut.",
    end_user_budget_exceeded:
      "Erhöhen Sie das Budget des Endnutzers auf der Seite „Limits“, oder warten Sie, bis es " +
      "sich erneuert.",
    key_paused:
      "Setzen Sie den Schlüssel auf der Seite „Limits“ fort, oder warten Sie, bis die Pause endet.",
    run_paused: "Setzen Sie den Lauf fort, und senden Sie den Aufruf erneut.",
    run_ended: "Geben Sie dem Lauf mehr Zeit, oder nennen Sie einen anderen.",
    too_many_budgets: "Warten Sie, bis andere Läufe enden, oder nennen Sie einen von ihnen.",
    monthly_limit_reached:
      "Erhöhen Sie Ihre eigene Obergrenze, falls Sie eine gesetzt haben, oder erreichen Sie die " +
      "nächste Stufe.",
    rate_limit_exceeded: "Senden Sie nach einer Pause erneut, oder verteilen Sie die Aufrufe.",
    too_many_streams:
      "Warten Sie, bis ein Stream endet, oder erreichen Sie eine Stufe mit mehr Streams.",
    payment_required: "Bezahlen Sie den offenen Betrag: Die nächste Zahlung tut das zuerst.",
    insufficient_scope:
      "Verwenden Sie einen Schlüssel mit der Berechtigung für diesen Dienst, oder erstellen Sie " +
      "einen.",
    tier_required: "Die Seite „Limits“ zeigt, was die Stufe mit diesem Dienst freischaltet.",
    ip_not_allowed:
      "Rufen Sie von einer Adresse aus der Liste des Schlüssels auf, oder erstellen Sie einen " +
      "Schlüssel mit einer anderen Liste.",
    model_not_allowed:
      "Verwenden Sie eines der Modelle des Schlüssels, oder ändern Sie diese auf der Seite " +
      "„Schlüssel“.",
    account_inactive: "Die Seite „Einstellungen“ zeigt, warum.",
    idempotency_key_mismatch: "Verwenden Sie für jede neue Aufgabe einen neuen Idempotency-Key.",
    idempotency_in_progress: "Senden Sie dieselbe Anfrage nach einer Pause erneut.",
    idempotency_already_charged: "Die erste Anfrage steht mit ihren Kosten im Protokoll.",
    too_many_idempotency_keys:
      "Warten Sie, bis der UTC-Tag endet, oder senden Sie Aufrufe ohne Idempotency-Key.",
  },
  errors: {
    not_found: "Das gibt es nicht.",
    method_not_allowed: "Der Pfad kennt diese Methode nicht.",
    missing_api_key: "Der API-Schlüssel fehlt.",
    invalid_api_key:
      "Der Schlüssel ist falsch, widerrufen, ausgeschaltet, abgelaufen oder gehört zur anderen " +
      "API.",
    account_inactive: "Das Konto ist gesperrt oder geschlossen.",
    payment_required: "Eine zurückgenommene Zahlung hat einen offenen Betrag hinterlassen.",
    ip_not_allowed: "Der Schlüssel gilt nur für andere IP-Adressen.",
    insufficient_scope: "Dem Schlüssel fehlt die Berechtigung für diesen Dienst.",
    tier_required: "Die Stufe des Kontos enthält diesen Dienst nicht.",
    rate_limit_exceeded: `Zu viele Anfragen oder Tokens, oder zu viele offene Aufrufe. ${RETRY}`,
    body_too_large: "Die Anfrage ist größer, als der Endpunkt erlaubt.",
    invalid_json: "Die Anfrage ist kein gültiges JSON, zu tief verschachtelt oder unvollständig.",
    messages_required: "„messages“ fehlt oder ist leer.",
    batch_too_large: "Der Stapel hat mehr Suchanfragen, als die Stufe erlaubt.",
    invalid_action: "„action“ fehlt oder ist unbekannt.",
    unsupported_field: "Die Anfrage enthält ein Feld, das nicht gesetzt werden kann.",
    invalid_parameter: "Ein Feld verletzt seine Regel.",
    too_many_recipients: "Mehr Empfänger, als die Stufe für eine E-Mail erlaubt.",
    idempotency_key_reused: "Dieser Idempotency-Key kam schon mit einer anderen E-Mail.",
    origin_not_allowed: "Eine Seite einer anderen Herkunft hat die Nachricht gesendet.",
    model_not_found: "Dieses Modell gibt es nicht.",
    model_not_allowed: "Der Schlüssel darf nur andere Modelle aufrufen.",
    message_not_found: "Das Konto hat keine solche E-Mail.",
    run_not_found: "Das Konto hat keinen solchen Lauf.",
    receipt_not_found: "Der Schlüssel hat keine solche Anfrage gestellt.",
    receipt_pending: `Die Anfrage ist noch nicht abschließend erfasst. ${RETRY}`,
    receipt_gone: "Die Anfrage wird nicht mehr aufbewahrt, und ein Beleg wurde nicht ausgestellt.",
    model_unavailable: "Das Modell oder alle Modelle sind pausiert.",
    search_unavailable: "Die Suche ist pausiert, oder niemand kann sie gerade ausführen.",
    maps_unavailable: "Karten sind pausiert, oder niemand bedient diese Aktion.",
    mail_unavailable: "Der Versand ist pausiert, oder die E-Mail wurde aufgegeben.",
    max_cost_exceeded: `Der Aufruf kann mehr kosten, als sein Höchstbetrag erlaubt. ${FREE}`,
    key_paused: `Eine Ausgabenregel hat den Schlüssel angehalten. ${FREE}`,
    run_paused: `Der Lauf des Aufrufs ist angehalten. ${FREE}`,
    run_ended: `Die Zeit des Laufs ist vorbei. ${FREE}`,
    idempotency_key_mismatch:
      "Dieser Idempotency-Key kam in den letzten 24 Stunden schon mit einer anderen Anfrage.",
    idempotency_in_progress: `Die erste Anfrage mit diesem Idempotency-Key läuft noch. ${RETRY}`,
    idempotency_already_charged:
      "Die erste Anfrage mit diesem Idempotency-Key wurde berechnet; ihre Antwort ist nicht mehr " +
      "da.",
    mail_rate_limit: `Zu viele E-Mails in einer Minute. ${RETRY}`,
    mail_daily_limit: "Zu viele Empfänger an einem UTC-Tag.",
    too_many_budgets: "Das Konto hat so viele offene Läufe, wie es haben darf.",
    too_many_idempotency_keys: "Zu viele Aufrufe mit Idempotency-Key an einem UTC-Tag.",
    key_budget_exceeded: "Ein Budget des Schlüssels reicht für den Aufruf nicht aus.",
    monthly_limit_reached: "Die monatliche Obergrenze des Kontos oder seiner Stufe ist erreicht.",
    account_budget_exceeded: "Ein Budget des Kontos reicht für den Aufruf nicht aus.",
    run_budget_exceeded: `Das Budget des Laufs reicht für den Aufruf nicht aus. ${FREE}`,
    end_user_budget_exceeded: `Ein Budget des Endnutzers reicht für den Aufruf nicht aus. ${FREE}`,
    insufficient_credits: `Das Guthaben reicht für den Aufruf nicht aus. ${FREE}`,
    too_many_streams: "Zu viele offene Streams für die Stufe.",
    context_length_exceeded: `Die Nachrichten passen nicht in den Kontext des Modells. ${FREE}`,
    mail_rejected: `Der Mailserver hat alle Empfänger abgelehnt. ${FREE}`,
    upstream_unreachable: `Kein Server hinter dem Dienst hat geantwortet. ${FREE}`,
    service_unavailable: `Ein Teil des Dienstes ist ausgefallen. ${FREE} ${RETRY}`,
    internal_error: `Ein Fehler auf unserer Seite. ${FREE}`,
  },
  changeErrors: {
    wrong_scope: "Diese Berechtigung gibt es hier nicht.",
    wrong_surface: "Das gibt es bei dieser Art von Konto nicht.",
    unreadable_documents: "Die Dokumente sind nicht lesbar.",
    closed: "Das Konto ist geschlossen.",
    wrong_state: "Das ist jetzt nicht möglich.",
    too_large: "Der Betrag ist nicht möglich.",
    price_changed:
      "Preis oder Beginn haben sich geändert. Es wurde nichts belastet. Prüfen Sie sie erneut.",
    no_card: "Das Konto hat keine Karte, die belastet werden kann.",
    no_payment_provider: "Hier kann nichts bezahlt werden: Der Betreiber bucht Guthaben.",
    reference_reused: "Diese Bestellung wurde schon mit anderem Inhalt aufgegeben.",
    voucher_unknown: "Diesen Gutschein gibt es nicht.",
    voucher_ended: "Der Gutschein ist abgelaufen.",
    voucher_exhausted: "Der Gutschein wurde schon so oft eingelöst, wie es möglich ist.",
    voucher_tier: "Der Gutschein gilt nicht für die Stufe dieses Kontos.",
    voucher_person:
      "Der Gutschein gilt einmal je Person und wurde für dieses Konto oder von diesem Postfach, " +
      "Netz oder Gerät schon eingelöst.",
    voucher_disposable: "Der Gutschein gilt nicht für Wegwerf-Postfächer.",
    voucher_plan:
      "Der Gutschein gibt einem Konto der Application API einen Tarif: Es muss den Tarif Free " +
      "haben oder denselben aus einem Gutschein, und keine Zahlung dafür darf laufen.",
    voucher_lots:
      "Das Freiguthaben des Kontos hat schon so viele Enden, wie es haben kann. Lösen Sie den " +
      "Gutschein später ein.",
  },
  consoleErrors: {
    foreign_origin: "Die Anfrage kam nicht von einer Seite dieses Dashboards.",
    json_required: "Die Anfrage ist kein JSON.",
    not_signed_in: "Ihre Sitzung ist beendet. Melden Sie sich erneut an.",
    account_not_found: "Dieses Konto gibt es nicht, oder Sie gehören nicht dazu.",
    operator_address: "Von dieser Adresse werden Betreiber nicht eingelassen.",
    sso_required: "Melden Sie sich über den Single-Sign-on-Anbieter an.",
    second_factor_required: "Melden Sie sich mit Ihrem zweiten Faktor an, um das zu ändern.",
    operator_link_required:
      "Betreiber richten ihren zweiten Faktor ein, nachdem sie sich mit einem Link von " +
      "„farebox person link“ angemeldet haben.",
    sso_not_configured: "Diese Installation hat kein Single Sign-on.",
    sso_unavailable: `Der Single-Sign-on-Anbieter antwortet nicht richtig. ${RETRY}`,
    sso_not_valid: "Diese Anmeldung ist abgelaufen oder begann in einem anderen Browser.",
    sso_refused: "Die Antwort des Single-Sign-on-Anbieters ist nicht gültig.",
    no_operator: "Wer sich beim Anbieter angemeldet hat, ist kein Betreiber.",
    role_required: "Ihre Rolle erlaubt das nicht.",
    sign_in_again: "Ihr Passwort wurde vor zu langer Zeit eingegeben. Melden Sie sich erneut an.",
    wrong_proof: "Das Passwort oder der Code ist falsch.",
    invalid_email_or_password: "E-Mail-Adresse oder Passwort ist falsch.",
    invalid_password: "Das Passwort ist falsch, oder es ist keines festgelegt.",
    invalid_otp: "Der Code ist falsch.",
    otp_expired: "Der Code ist abgelaufen. Fordern Sie einen neuen an.",
    invalid_token: "Der Link wurde schon verwendet, ist abgelaufen oder wurde nie gesendet.",
    invalid_passkey: "Dieser Passkey ist nicht bekannt.",
    invalid_two_factor_cookie: "Keine Anmeldung wartet auf einen zweiten Faktor.",
    code_used: "Dieser Code wurde schon eingegeben. Warten Sie auf den nächsten.",
    invalid_code: "Der Code ist falsch.",
    invalid_backup_code: "Der Backup-Code ist falsch oder wurde schon verwendet.",
    two_factor_not_enabled: "Sie haben keinen zweiten Faktor.",
    totp_not_enabled: "Sie haben keine App als zweiten Faktor.",
    backup_codes_not_enabled: "Sie haben keine Backup-Codes.",
    not_possible: "Die Anmeldung ist nicht möglich.",
    link_not_valid: "Dieser Link wurde schon verwendet, ist abgelaufen oder nicht für Sie.",
    person_not_found: "Das Konto hat kein solches Mitglied.",
    invitation_not_found: "Das Konto hat keine solche offene Einladung.",
    session_not_found: "Diese Sitzung gibt es nicht.",
    passkey_not_found: "Diesen Passkey gibt es nicht.",
    passkey_not_valid: "Die Antwort des Geräts ist abgelaufen oder nicht für dieses Dashboard.",
    too_many_passkeys: "Sie haben so viele Passkeys, wie möglich sind.",
    passkeys_unavailable: "Passkeys brauchen einen Hostnamen; diese Adresse besteht aus Zahlen.",
    owner_only: "Nur ein Inhaber kann Inhaber ernennen, ändern oder entfernen.",
    last_owner: "Ein Konto braucht einen Inhaber: Ernennen Sie zuerst jemand anderen.",
    already_member: "Diese Person gehört schon zum Konto.",
    too_many_accounts: "Sie besitzen so viele offene Konten, wie möglich sind.",
    too_many_attempts: "Zu viele Versuche. Warten Sie etwas und versuchen Sie es erneut.",
  },
});
