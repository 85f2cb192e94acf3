// Texts of the overview, keys, models and limits, in German.

import { toDecimal } from "../../../../src/core/money/money.ts";
import { capitalised } from "../../../../src/core/text/capital.ts";
import { isZero, moneyText } from "../../money.ts";
import { nameOf } from "../../name-of.ts";
import type { Texts } from "../en/english.ts";
import { dayCount, weekdaysIn } from "../words.ts";
import { SCOPES } from "./names.ts";

const FEE_UNITS = { call: "Aufruf", query: "Suchanfrage", request: "Anfrage" } as const;

function days(count: number): string {
  const shown = dayCount(count);
  return `${shown} ${shown === "1" ? "Tag" : "Tage"}`;
}

export const workTexts: Texts["work"] = {
  tier: (kind, name) => `${kind === "plan" ? "Tarif" : "Stufe"} ${capitalised(name)}`,
  lastsAbout: "Reicht für etwa",
  noSpending: "Noch keine Ausgaben",
  notEnoughSpending: "Noch zu wenige Ausgaben",
  days,
  at: "bei",
  aDay: "am Tag",
  of: "von",
  autoTopUp: "Automatische Aufladung",
  auto: { enabled: "ein", paused: "pausiert" },
  turnOn: "Einschalten",
  thisMonth: "Dieser Monat (UTC)",
  nextTier: "Nächste Stufe",
  next({ name, paid_usd_missing: missing, days_left: left, unlocks }) {
    const parts: string[] = [];
    if (!isZero(missing)) parts.push(`noch ${moneyText(missing)} zahlen`);
    if (left > 0) parts.push(`noch ${days(left)}`);
    const services = unlocks.map((scope) => nameOf(SCOPES, scope)).join(", ");
    const adds = services === "" ? "" : `; dazu ${services}`;
    return `${capitalised(name)}: ${parts.length === 0 ? "bald" : parts.join(" und ")}${adds}`;
  },
  today: "Heute",
  sinceMidnight: "seit Mitternacht UTC",
  calls: "Aufrufe",
  refusedOrFailed: "Abgelehnt oder fehlgeschlagen",
  cost: "Kosten",
  lastErrors: "Letzte Fehler",
  lastCalls: "Letzte Aufrufe",
  allRequests: "Alle Anfragen",
  noCalls: "Noch keine Aufrufe",
  noCallsAbout: "Der erste Aufruf erscheint hier nach ein bis zwei Sekunden.",
  writing: "Es gab einen Aufruf",
  writingAbout: "Im Guthaben ist er schon berücksichtigt und erscheint hier gleich.",
  costByDay: "Kosten je Tag",
  noCost: "In diesen Tagen wurde nichts berechnet.",
  freeCredit: {
    granted: "",
    none: "",
    used_elsewhere:
      "Dieses Konto beginnt ohne Freiguthaben: Das gibt es einmal, und Sie haben es schon " +
      "erhalten.",
    disposable_inbox:
      "Dieses Konto beginnt ohne Freiguthaben: Für Wegwerf-Postfächer gibt es keines.",
    ended: "Das Freiguthaben dieses Kontos ist abgelaufen. Laden Sie auf, um fortzufahren.",
  },
  state: {
    active: "",
    owed:
      "sind offen, weil eine Zahlung zurückgenommen wurde. Aufrufe werden abgelehnt, bis der " +
      "Betrag " +
      "bezahlt ist.",
    clear: "Offenen Betrag bezahlen",
    suspended: "Dieses Konto ist gesperrt: Aufrufe werden abgelehnt, Schlüssel bleiben erhalten.",
    reasons: {
      operator: "Den Grund kennt der Betreiber.",
      dispute:
        "Eine Zahlung ist bei der Bank angefochten. Sobald das entschieden ist, ist das Konto " +
        "wieder frei.",
      negative_balance: "Der Betreiber prüft das Guthaben.",
    },
    closed:
      "Dieses Konto ist geschlossen. Seine Schlüssel sind widerrufen; seine Aufzeichnungen " +
      "bleiben " +
      "lesbar.",
  },
  steps: {
    title: "Erste Schritte",
    about: "Sie verschwinden nach dem ersten bezahlten Aufruf",
    key: "Schlüssel erstellen",
    keyAction: "Schlüssel erstellen",
    call: "Ersten Aufruf senden",
    clients: "Einstellungen für Codex, Claude Code, andere Agenten und SDKs",
    waiting: "Warten auf den ersten Aufruf: Der Haken erscheint, sobald er ankommt.",
    pay: "Guthaben aufladen",
    payAction: "Guthaben aufladen",
    done: "erledigt",
    language: "Sprache",
    ownKey:
      "Ein Schlüssel wird nur beim Erstellen angezeigt: Setzen Sie Ihren in FAREBOX_API_KEY ein.",
  },
  snippets: {
    model: "MODEL",
    curl: "curl",
    javascript: "JavaScript",
    python: "Python",
    env: ".env",
  },
  keys: {
    about: "Ein Schlüssel ist geheim: Verwenden Sie ihn nur in einem Backend.",
    aboutApplication: "Schlüssel der Application API. Im Gateway gelten sie nicht.",
    create: "Neuer Schlüssel",
    createTitle: "Neuer Schlüssel",
    createTitleApplication: "Neuer Anwendungsschlüssel",
    permission: "Berechtigung",
    modelsApi: "Modell-API",
    name: "Name",
    namePlaceholder: "production",
    scopes: "Was er aufrufen darf",
    notInTier: "noch nicht in Ihrer Stufe",
    toTiers: "Was jede Stufe enthält, und wie Sie sie erreichen",
    ip: "Erlaubte IP-Adressen",
    ipAbout: "Eine Adresse oder ein CIDR-Block je Zeile. Leer: jede Adresse.",
    limit: "Monatliches Budget in USD",
    limitAbout:
      "Aufrufe mit diesem Schlüssel werden abgelehnt, sobald es erreicht ist. Leer: keines.",
    made: "Ihr neuer Schlüssel",
    madeAbout:
      "Er wird nur dieses eine Mal angezeigt. Bewahren Sie ihn dort auf, wo Ihre Geheimnisse sind.",
    madeLabel: "Der Schlüssel",
    envLabel: "Zeilen für .env",
    stored: "Ich habe ihn gesichert",
    columns: {
      name: "Name",
      key: "Schlüssel",
      scopes: "Darf aufrufen",
      spent: "Ausgaben im Monat",
      used: "Zuletzt verwendet",
      created: "Erstellt",
    },
    revoked: "widerrufen",
    of: "von",
    ipCount: (count) => `${count} ${count === 1 ? "Adressregel" : "Adressregeln"}`,
    remove: "Löschen",
    removeTitle: (name) => `Schlüssel „${name}“ löschen?`,
    removeAbout: "Er gilt ab sofort nicht mehr. Offene Aufrufe enden wie vorgesehen.",
    removed: "Der Schlüssel ist gelöscht.",
    removedSoon:
      "Der Schlüssel ist gelöscht. Bis alle Server es wissen, werden Aufrufe damit vielleicht " +
      "noch " +
      "angenommen.",
    rotate: "So ersetzen Sie einen Schlüssel",
    rotateSteps: [
      "Erstellen Sie einen neuen Schlüssel mit denselben Berechtigungen.",
      "Geben Sie ihn Ihrem Programm, und sehen Sie ihn unter „Zuletzt verwendet“.",
      "Löschen Sie den alten: Er gilt ab sofort nicht mehr.",
    ],
    none: "Noch keine Schlüssel",
    noneAbout: "Erstellen Sie einen, und rufen Sie die API in einer Minute auf.",
    showRevoked: "Gelöschte Schlüssel zeigen",
    disabled: "ausgeschaltet",
    ended: "abgelaufen",
    endsOn: (day) => `endet am ${day}`,
    modelCount: (count) => `${count} ${count === 1 ? "Modellregel" : "Modellregeln"}`,
    limits: {
      open: "Limits",
      more: "Weitere Limits: Modelle, Raten, Tags, ein Ende",
      title: (name) => `Limits des Schlüssels „${name}“`,
      save: "Speichern",
      done: "Die Limits sind geändert: Sie gelten ab dem nächsten Aufruf.",
      soon:
        "Die Limits sind geändert. Bis alle Server es wissen, gelten für Aufrufe vielleicht noch " +
        "die " +
        "alten.",
      disabled: "Ausgeschaltet",
      disabledAbout: "Jeder Aufruf wird abgelehnt, bis Sie den Schlüssel wieder einschalten.",
      models: "Modelle",
      modelsAbout: "Eine ID je Zeile; * steht für beliebige Zeichen. Leer: jedes Modell.",
      requestsMinute: "Anfragen pro Minute",
      requestsMinuteAbout: "Das Limit Ihrer Stufe gilt auch. Leer: nur dieses.",
      requestsDay: "Anfragen pro Tag (UTC)",
      tokensMinute: "Tokens pro Minute",
      tokensDay: "Tokens pro Tag (UTC)",
      empty: "Leer: kein eigenes Limit.",
      tags: "Tags",
      tagsAbout: "Wörter zwischen Kommas, nach denen Aufrufe gefunden und summiert werden.",
      ends: "Endet",
      endsAbout: "Um 00:00 UTC dieses Tages. Leer: nie.",
      wrongCount: "Eine ganze Zahl über null, oder nichts",
    },
  },
  models: {
    about: "Preise in USD für eine Million Tokens. Berechnet wird auf den Nano-Dollar genau.",
    filter: "Nach Name oder Familie filtern",
    columns: {
      model: "Modell",
      context: "Kontext",
      input: "Eingabe",
      cached: "Eingabe aus Cache",
      output: "Ausgabe",
      free: "Freiguthaben",
      status: "Status",
    },
    yes: "ja",
    no: "nein",
    paused: "pausiert",
    ready: "bereit",
    none: "Kein Modell enthält dies im Namen",
    noneAtAll: "Diese Installation bietet noch keine Modelle an",
    noneAtAllAbout: "Der Betreiber fügt sie in der Konfigurationsdatei hinzu.",
    copyId: "die ID des Modells",
    conditions: {
      above_prompt_tokens: (value) => `über ${value} Prompt-Tokens`,
      tier: (value) => `Stufe ${value}`,
      speed: (value) => `Geschwindigkeit ${value}`,
      geography: (value) => `in ${value}`,
      served_model: (value) => `bedient von ${value}`,
      utc_hours: (value) => `${value.replaceAll(" ", " und ")} Uhr UTC`,
      utc_days: (value) => weekdaysIn(value),
      except_utc_dates: (value) => `außer ${value}`,
    },
    parts: {
      cacheReadAudio: "Audio aus dem Cache",
      cacheWrite5m: "Cache-Schreiben für 5 Minuten",
      cacheWrite30m: "Cache-Schreiben für 30 Minuten",
      cacheWrite1h: "Cache-Schreiben für eine Stunde",
      cacheWrite24h: "Cache-Schreiben für einen Tag",
      imageIn: "Bild-Eingabe",
      audioIn: "Audio-Eingabe",
      imageOut: "Bild-Ausgabe",
      audioOut: "Audio-Ausgabe",
    },
    part: (usd, what) => `${usd} ${what}`,
    fee: (usd, fee, per) =>
      fee === "request" ? `${usd} je Anfrage` : `${usd} je ${FEE_UNITS[per]} (${fee})`,
  },
  limits: {
    binds: "Was Sie jetzt begrenzt",
    windows: "Limits in der Zeit",
    month: "Dieser Monat",
    tierCap: "Obergrenze der Stufe",
    ownCap: "Ihre eigene Obergrenze",
    noCap: "keine",
    held: "Von offenen Aufrufen reserviert",
    resets: (day) => `Beginnt neu am ${day}, 00:00 UTC`,
    setCap: "Eigene Obergrenze setzen",
    changeCap: "Obergrenze ändern",
    capAbout:
      "Aufrufe werden abgelehnt, sobald der Monat sie erreicht (402 monthly_limit_reached).",
    capAmount: "Monatliche Obergrenze in USD",
    removeCap: "Obergrenze aufheben",
    capSet: "Die Obergrenze ist gesetzt. Sie gilt ab dem nächsten Aufruf.",
    capRemoved: "Die Obergrenze ist aufgehoben.",
    capSoon:
      "Die Obergrenze ist geändert. Bis alle Server es wissen, gilt für Aufrufe vielleicht noch " +
      "die " +
      "bisherige.",
    requestsKey: "Anfragen pro Minute, je Schlüssel",
    requestsAccount: "Anfragen pro Minute, alle Schlüssel",
    streams: "Offene Streams",
    callsOpen: "Offene Aufrufe",
    batch: "Suchanfragen in einem Stapel",
    mailMinute: "E-Mails pro Minute",
    mailDay: "E-Mail-Empfänger pro Tag (UTC)",
    mailMessage: "Empfänger einer E-Mail",
    keys: "Je Schlüssel",
    used: "Letzte 60 s",
    rates: {
      requests_day: "Anfragen am UTC-Tag",
      tokens_minute: "Tokens der letzten Minute",
      tokens_day: "Tokens am UTC-Tag",
    },
    left: (count) => `noch ${count}`,
    renews: (at) => `wieder alles ab ${at} UTC`,
    budget: "Budget in diesem Monat",
    tiers: "Stufen",
    tierColumns: {
      tier: "Stufe",
      requests: "Anfragen/Min., Schlüssel",
      streams: "Streams",
      cap: "Monatliche Obergrenze",
      services: "Dienste",
      unlock: "Freischaltung",
    },
    unlock({ kind, name, unlock }) {
      if (unlock === null) {
        if (name === "free") return "mit der Registrierung";
        return kind === "plan" ? "durch den Betreiber" : "per Vertrag";
      }
      const paid = `${moneyText(toDecimal(unlock.paid))} bezahlt`;
      return unlock.days === 0 ? paid : `${paid} und ${unlock.days} Tage seit der ersten Zahlung`;
    },
    yours: "Ihre",
  },
  spans: {
    "5h": "Fünf Stunden",
    day: "UTC-Tag",
    week: "Woche",
    month: "UTC-Monat",
    total: "Gesamte Zeit",
  },
  budgets: {
    title: "Budgets",
    none: "Keine Budgets außer denen des Monats.",
    set: "Budget setzen",
    about:
      "Aufrufe werden abgelehnt, sobald im Zeitraum kein Platz mehr für sie ist (402). Offene " +
      "Aufrufe zählen mit. Wird ein Budget erhöht oder gesenkt, bleibt das bisher Gezählte.",
    account: "Das ganze Konto",
    amount: "USD im Zeitraum",
    remove: "Dieses Budget aufheben",
    done: "Das Budget ist geändert. Es gilt ab dem nächsten Aufruf.",
    soon:
      "Das Budget ist geändert. Bis alle Server es wissen, gilt für Aufrufe vielleicht noch das " +
      "bisherige.",
    columns: {
      owner: "Von",
      span: "Zeitraum",
      amount: "Budget",
      spent: "Ausgegeben",
      held: "Reserviert",
      left: "Übrig",
      renews: "Erneuert sich",
    },
  },
  endUsers: {
    title: "Budgets der Endnutzer",
    about:
      "Aufrufe nennen den Endnutzer Ihrer Anwendung, für den sie sind: in safety_identifier, " +
      "user, metadata.user_id oder im Header x-svc-end-user. Gespeichert wird nur ein Hash " +
      "mit Schlüssel.",
    none: "Endnutzer haben keine Budgets.",
    named: (count: number) =>
      count === 1
        ? "Ein Endnutzer hat eigene Budgets."
        : `${count} Endnutzer haben eigene Budgets.`,
    set: "Budget der Endnutzer setzen",
    setAbout:
      "Jeder Endnutzer darf im Zeitraum so viel ausgeben. Das Budget eines einzelnen ersetzt die " +
      "Budgets, die jeder für denselben Zeitraum hat.",
    id: "Einzelner Endnutzer",
    idAbout: "Leer: das Budget, das jeder Endnutzer hat.",
    allKeys: "Alle Schlüssel",
    amount: "USD im Zeitraum",
    remove: "Dieses Budget aufheben",
    done: "Das Budget ist geändert. Es gilt ab dem nächsten Aufruf.",
    soon:
      "Das Budget ist geändert. Bis alle Server es wissen, gilt für Aufrufe vielleicht noch das " +
      "bisherige.",
    find: "Ein Endnutzer, wie Ihre Aufrufe ihn nennen",
    show: "Seine Ausgaben zeigen",
    requests: "Seine Anfragen",
    noBudget: "Kein Budget zählt diesen Endnutzer.",
    own: "Dieser",
    each: "Jeder Endnutzer",
    columns: {
      owner: "Von",
      key: "Aufrufe von",
      span: "Zeitraum",
      amount: "Budget",
      spent: "Ausgegeben",
      held: "Reserviert",
      left: "Übrig",
      renews: "Erneuert sich",
    },
  },
  burn: {
    title: "Ausgabenregeln",
    none: "Keine Regeln: Ein Schlüssel kann so schnell Geld ausgeben, wie seine Limits erlauben.",
    add: "Regel hinzufügen",
    about:
      "Greift, wenn ein Schlüssel in fünf Minuten so viel ausgegeben hat. Geprüft wird alle zehn " +
      "Sekunden, es kann also etwas mehr durchgehen: Exakt ist nur ein Budget.",
    amount: "USD in fünf Minuten",
    eachKey: "Jeder Schlüssel",
    actions: {
      alert: "Nur benachrichtigen",
      slow: "Schlüssel verlangsamen",
      pause: "Schlüssel anhalten",
    },
    slowTo: (requests) => `${requests} Anfragen pro Minute`,
    forMinutes: (measure, minutes) => `${measure}, ${minutes} Min. lang`,
    requests: "Anfragen pro Minute, die bleiben",
    minutes: (least) => `Minuten, bis das von selbst endet (mindestens ${least})`,
    timesLabel: "Auch so viel Mal das Übliche (ab 2; leer: der Betrag genügt)",
    times: (times) => `${times}-fach`,
    added: "Die Regel ist hinzugefügt. Sie wird innerhalb von zehn Sekunden geprüft.",
    remove: "Entfernen",
    removed: "Die Regel ist entfernt. Was sie bewirkt hat, bleibt bis zu seinem Ende.",
    pausedUntil: (key, until) => `Der Schlüssel „${key}“ ist bis ${until} angehalten.`,
    slowedUntil: (key, until) => `Der Schlüssel „${key}“ ist bis ${until} verlangsamt.`,
    resume: "Fortsetzen",
    resumed: "Der Schlüssel nimmt wieder Aufrufe an.",
    resumedSoon:
      "Der Schlüssel ist fortgesetzt. Bis alle Server es wissen, werden Aufrufe vielleicht noch " +
      "abgelehnt.",
    columns: { key: "Schlüssel", above: "In fünf Minuten", times: "Das Übliche", action: "Dann" },
    alarmColumns: {
      at: "Ausgelöst",
      key: "Schlüssel",
      spent: "Ausgegeben",
      threshold: "Regel",
      action: "Dann",
      ended: "Beendet",
    },
  },
  runs: {
    title: "Läufe",
    none: "Noch keine Läufe: Ein Aufruf beginnt einen mit dem Header x-svc-run.",
    raiseAbout:
      "Was seine Aufrufe zusammen kosten dürfen, einschließlich der bisherigen Kosten. Ein " +
      "abgelehnter Aufruf kann erneut gesendet werden.",
    amount: "USD für den Lauf",
    details: "Einzelheiten",
    requests: "Seine Anfragen",
    pause: "Anhalten",
    resume: "Fortsetzen",
    raise: "Erhöhen",
    calls: "Aufrufe",
    paused: "Der Lauf ist angehalten. Er lehnt Aufrufe ab jetzt ab; laufende gehen weiter.",
    resumed: "Der Lauf nimmt wieder Aufrufe an.",
    raised: "Das Budget des Laufs ist geändert. Es gilt ab dem nächsten Aufruf.",
    states: { active: "Aktiv", paused: "Angehalten", ended: "Beendet" },
    columns: {
      id: "Lauf",
      state: "Zustand",
      max: "Budget",
      spent: "Ausgegeben",
      held: "Reserviert",
      left: "Übrig",
      ends: "Endet",
    },
  },
};
