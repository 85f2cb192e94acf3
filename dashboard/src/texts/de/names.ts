// Names that several texts need, in German.

import type { LineNames, RoleNames, ScopeNames, ServiceTitles } from "../names.ts";

export const ROLES: RoleNames = {
  owner: "Inhaber",
  admin: "Administrator",
  billing: "Abrechnung",
  viewer: "Betrachter",
};

export const SCOPES: ScopeNames = {
  models: "Modelle",
  search: "Suche",
  maps: "Karten",
  mail: "E‑Mail",
};

export const SERVICES: ServiceTitles = {
  account: "Konto",
  chat: "Modelle",
  search: "Suche",
  maps: "Karten",
  mail: "E‑Mail",
};

export const LINES: LineNames = {
  "input tokens": "Eingabe-Tokens",
  "cached input tokens": "Eingabe-Tokens aus Cache",
  "output tokens": "Ausgabe-Tokens",
  "cached audio": "Audio aus Cache",
  "cache writes for 5 minutes": "In den Cache für 5 Minuten",
  "cache writes for 30 minutes": "In den Cache für 30 Minuten",
  "cache writes for an hour": "In den Cache für eine Stunde",
  "cache writes for a day": "In den Cache für einen Tag",
  "image input": "Bildeingabe",
  "audio input": "Audioeingabe",
  "image output": "Bildausgabe",
  "audio output": "Audioausgabe",
  request: "Anfrage",
  results: "Treffer",
  action: "Aktion",
  message: "Nachricht",
  recipients: "Empfänger",
};
