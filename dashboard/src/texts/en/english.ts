// Every text of the pages, in English. The catalogues of other languages have the same form.

import {
  SCOPES,
  type Scope,
  SERVICE_NAMES,
  SERVICES,
  type ServiceName,
} from "../../../../src/core/access/services.ts";
import { capitalised } from "../../../../src/core/text/capital.ts";
import { billingTexts } from "./billing.ts";
import { entryTexts } from "./entry.ts";
import { peopleTexts } from "./people.ts";
import { planTexts } from "./plan.ts";
import { playgroundTexts } from "./playground.ts";
import { refusalTexts } from "./refusals.ts";
import { usageTexts } from "./usage.ts";
import { webhookTexts } from "./webhooks.ts";
import { workTexts } from "./work.ts";

/** A service is called by its title, unless a text below replaces it. */
const titles = Object.fromEntries(
  SERVICE_NAMES.map((name) => [name, SERVICES[name].title]),
) as Record<ServiceName, string>;

export const texts = {
  nav: {
    label: "Main",
    skip: "Skip to the content",
    menu: "Open the navigation",
    accounts: "Accounts",
    you: "Your settings",
    support: "Ask for help",
    groups: { top: "", build: "Build", account: "Account" },
    pages: {
      overview: "Overview",
      usage: "Usage",
      requests: "Requests",
      keys: "Keys",
      models: "Models",
      playground: "Playground",
      webhooks: "Webhooks",
      billing: "Billing",
      statement: "Statement",
      plan: "Plan",
      limits: "Limits",
      team: "Team",
      settings: "Settings",
    },
    docs: "Docs",
    scheme: { light: "Light", dark: "Dark", auto: "As the system" },
    schemeLabel: "Colours",
    language: "Language",
    signOut: "Sign out",
    newAccount: "New application account",
    surfaces: { gateway: "Gateway", application: "Application API" },
    roles: { owner: "owner", admin: "admin", billing: "billing", viewer: "viewer" },
  },
  /** Sentences that follow each other. */
  sentences: (sentences: readonly string[]) => sentences.join(" "),
  /** A name and its value. */
  pair: (name: string, value: string) => `${name}: ${value}`,
  /** Names that stand for themselves, one after the other. */
  list: (names: readonly string[]) => names.join(", "),
  signed: {
    receipt: "Signed receipt",
    about: "Proof of what this call cost. It has the same text each time.",
    number: (number: number) => `Receipt no. ${number}`,
    corrects: (number: number) => `corrects no. ${number}`,
    save: "Save as JSON",
    verify: "How to verify it",
  },
  statement: {
    earlier: "Month before",
    later: "Month after",
    print: "Print or save as PDF",
    account: "Account",
    id: "Id",
    from: "From",
    to: "To (not included)",
    state: "State",
    over: "the month is over",
    running: "the month is running",
    balances: "Balances",
    opening: "At the beginning",
    closing: "At the end",
    owed: "Owed at the end",
    columns: { what: "What", count: "Number", paid: "Paid balance", free: "Free credit" },
    charges: "Charges of calls",
    charged: (count: string) => `${count} charged calls; their receipts add up to this`,
    noCharges: "No call was charged in this month.",
    chargeColumns: {
      service: "Service",
      model: "Model or action",
      free: "From free credit",
      cost: "Cost",
    },
    signature: "Signature",
    signed: "The whole statement, signed by this service. Anybody can verify it offline.",
  },
  actions: {
    retry: "Try again",
    cancel: "Cancel",
    close: "Close",
    copy: "Copy",
    copied: "Copied",
    save: "Save",
    saved: "Saved",
    docs: "Docs",
    addCredit: "Add credit",
    continue: "Continue",
    clear: "Clear",
  },
  states: {
    loading: "Loading",
    failed: "This could not be loaded",
    mayBeDone: "It may have been done all the same: look before you try again.",
    delayed: (time: string) => `Delayed: the figures are from ${time} UTC.`,
    asOfLoading: "loading the figures …",
    asOf: (time: string, zone: string, behind: string) =>
      `as of ${time} ${zone}, ${behind} s behind`,
    none: "none",
    never: "never",
    noRows: "There is nothing here.",
    unreachable: "The server cannot be reached. Check your connection and try again.",
    unreadable: "The server sent an answer that this page cannot read.",
    newVersion: "This page was updated while it was open. Reload it to go on.",
    reload: "Reload",
    missing: "There is no such page",
    missingAbout: "The address may be mistyped, or the page was moved.",
    toOverview: "To the overview",
    noAccount: "You belong to no account",
    noAccountAbout:
      "Ask an owner to invite you, or verify your e-mail address if you have just signed up.",
    forbidden: (role: string) => `Your role here is ${role}; an admin or owner can do this.`,
  },
  times: {
    now: "just now",
    minutesAgo: (count: number) => `${count} min ago`,
    hoursAgo: (count: number) => `${count} h ago`,
    daysAgo: (count: number) => (count === 1 ? "yesterday" : `${count} days ago`),
  },
  fields: {
    wrongAmount: "An amount such as 25 or 12.50",
    typeToConfirm: (text: string) => `Type ${text} to confirm`,
  },
  balance: {
    spendable: "You can spend now",
    nothing: "No balance",
    parts: { paid: "Paid", free: "Free, models only", held: "Held by open calls", owed: "Owed" },
    freeUntil: (day: string) => `Free, models only, until ${day}`,
    lotUntil: (day: string) => `until ${day}`,
    limits: {
      balance: "The balance",
      tier_cap: "Limited by the monthly cap of your tier.",
      own_cap: "Limited by the monthly cap that you set.",
      budget: "Limited by a budget of the account.",
      owed: "Calls are refused until what is owed is paid.",
      inactive: "Calls are refused: the account is not active.",
    },
  },
  keyboard: {
    title: "Keyboard",
    keys: {
      "/": "Go to a page or a request",
      n: "New key",
      "?": "This list",
      Esc: "Close",
    },
    jump: "Go to",
    jumpPlaceholder: "A page, or the id of a request",
    openRequest: (id: string) => `Open request ${id}`,
    nothing: "Nothing found",
  },
  services: { ...titles, chat: "Models", account: "Account" },
  scopes: Object.fromEntries(SCOPES.map((scope) => [scope, capitalised(scope)])) as Record<
    Scope,
    string
  >,
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

export type Texts = typeof texts;
