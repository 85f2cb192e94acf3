// Shares the product with its dashboard, a browser, and people in it among the browser tests of a
// file. Without Chromium the tests are skipped, and no process is started.

import type { Browser } from "playwright-core";
import { texts as english, type Texts } from "../../../dashboard/src/texts/en/english.ts";
import { makeSignInLink } from "../../../src/identity/sign-in-link.ts";
import { setOperator } from "../../../src/store/people/known-people.ts";
import { PeopleStore } from "../../../src/store/people/people.ts";
import { random } from "../random.ts";
import { shared } from "../shared.ts";
import { Visitor } from "./browser.ts";
import { ensureChromium, startBrowser } from "./chromium.ts";
import { type DashboardProduct, startDashboardProduct } from "./dashboard-product.ts";

/** The language of somebody's browser, and the texts that they see in it. */
export interface Reading {
  readonly locale: string;
  readonly texts: Texts;
}

export interface BrowserStage {
  /** False if the tests must be skipped. Then no other member can be used. */
  readonly canRun: boolean;
  readonly running: DashboardProduct;
  /** A person with their own window, and the account that they signed up for. */
  person(email: string): Promise<{ readonly visitor: Visitor; readonly account: string }>;
  /** An operator who has signed in with a link from the command line; by default in English. */
  operator(email: string, reading?: Reading): Promise<Visitor>;
  /** A link from the command line, which signs a person in once. */
  link(email: string, next?: string): Promise<string>;
  /** A window without a session, at the product or at another address of it, in a language. */
  visitor(base?: string, locale?: string): Promise<Visitor>;
}

const IN_ENGLISH: Reading = { locale: "en-US", texts: english };

/** Opens a stage until the end of the file, with further settings for the product. */
export async function sharedStage(
  env: Readonly<Record<string, string>> = {},
): Promise<BrowserStage> {
  const path = ensureChromium();
  // CI must not skip these tests.
  if (path === null && process.env.CI) {
    throw new Error("Chromium is missing, and could not be installed");
  }
  if (path === null) return emptyStage();
  const running = await shared(startDashboardProduct(env));
  return stageOf(running, await shared(startBrowser(path)));
}

function stageOf(running: DashboardProduct, browser: Browser): BrowserStage {
  const visitor = (base = running.url, locale?: string) => Visitor.open(browser, base, locale);
  const person = async (email: string) => {
    const one = await visitor();
    return { visitor: one, account: await one.signUp(email) };
  };
  const { database } = running.product.operator;
  const link = async (email: string, next?: string) => {
    const known = await new PeopleStore(database).findByEmail(email);
    const made = { personId: known?.id ?? "", origin: running.url, ...(next && { next }) };
    return await makeSignInLink(database, made, { random, now: new Date() });
  };
  const operator = async (email: string, reading: Reading = IN_ENGLISH) => {
    const { locale, texts } = reading;
    const one = await visitor(running.url, locale);
    await one.signUp(email, texts);
    await setOperator(database, email, true);
    await one.page.goto(await link(email));
    await one.button(texts.entry.signIn).click();
    await one.page.waitForURL(/overview/);
    return one;
  };
  return { canRun: true, running, person, operator, link, visitor };
}

/** For files whose tests are skipped: they name their people, but never use them. */
function emptyStage(): BrowserStage {
  console.log("Chromium is missing: the pages are not tested in a browser");
  const nobody = undefined as never;
  return {
    canRun: false,
    running: nobody,
    person: async () => ({ visitor: nobody, account: "" }),
    operator: async () => nobody,
    link: async () => "",
    visitor: async () => nobody,
  };
}
