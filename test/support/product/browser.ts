// Opens pages in the system's Chromium and watches them: a logged error, a refusal by the page's
// policy, or an inaccessible part is a complaint.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { texts as english, type Texts } from "../../../dashboard/src/texts/en/english.ts";

/** Outside the repository; pictures are for people, made only on request because they take long. */
const SCREENSHOTS = join(import.meta.dir, "../../../.farebox/screenshots");
const KEEPS_SCREENSHOTS = process.env.FAREBOX_SCREENSHOTS === "1";
/** The password of every person of the tests. */
export const PASSWORD = "correct horse battery staple";
export const WIDE = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

/** A person's own window, with its own cookies. */
export class Visitor implements AsyncDisposable {
  readonly complaints: string[] = [];

  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    readonly base: string,
  ) {
    page.on("console", (message) => {
      const isFault = message.type() === "error" || message.type() === "warning";
      // A refusal that a page shows is also logged by the browser, with its status.
      if (isFault && !message.text().startsWith("Failed to load resource")) {
        this.complaints.push(`${page.url()}: ${message.text()}`);
      }
    });
    page.on("pageerror", (error) => this.complaints.push(`${page.url()}: ${error.message}`));
    page.on("request", (request) => {
      const url = request.url();
      const isOwn = url.startsWith(base) || /^(data|blob):/.test(url);
      if (!isOwn && request.resourceType() !== "document") {
        this.complaints.push(`${page.url()} asked another host: ${url}`);
      }
    });
  }

  /** A window of a browser whose person reads this language; by default English. */
  static async open(browser: Browser, base: string, locale = "en-US"): Promise<Visitor> {
    const context = await browser.newContext({
      viewport: WIDE,
      locale,
      acceptDownloads: true,
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(60_000);
    return new Visitor(context, await context.newPage(), base);
  }

  /** Opens an address below /dashboard. */
  async go(path: string): Promise<void> {
    await this.page.goto(`${this.base}/dashboard/${path}`);
  }

  button(name: string | RegExp) {
    return this.page.getByRole("button", { name, exact: typeof name === "string" });
  }

  field(name: string | RegExp) {
    return this.page.getByLabel(name, { exact: typeof name === "string" });
  }

  /** Gives the browser a device for passkeys, which agrees to every request. */
  async addAuthenticator(): Promise<void> {
    const cdp = await this.context.newCDPSession(this.page);
    await cdp.send("WebAuthn.enable");
    await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
  }

  /** Types a code of six digits into its boxes, once they are shown. */
  async typeCode(code: string): Promise<void> {
    await this.field("Digit 1").click();
    await this.page.keyboard.type(code);
  }

  /** The text of an element, without surrounding spaces. */
  async text(locator: Locator): Promise<string> {
    return ((await locator.textContent()) ?? "").trim();
  }

  /**
   * Signs up by the form and the mailed link, in the language of the pages. Returns the id of the
   * new account.
   */
  async signUp(email: string, { entry }: Pick<Texts, "entry"> = english): Promise<string> {
    await this.go("sign-up");
    await this.page.getByLabel(entry.name).fill(email.split("@")[0] ?? "");
    await this.page.getByLabel(entry.email).fill(email);
    await this.page.locator("input[name=password]").fill(PASSWORD);
    await this.button(entry.signUp).click();
    await this.page.getByRole("link", { name: entry.openMailed }).click();
    await this.button(entry.verifyAction).click();
    await this.page.waitForURL(/\/dashboard\/acct_\w+\/overview/);
    return /acct_\w+/.exec(this.page.url())?.[0] ?? "";
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Waits until no part of the page is loading. */
  async settled(): Promise<void> {
    await this.page.locator("main").first().waitFor();
    await this.page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  }

  /**
   * Inspects the page in light, dark and at the width of a phone: a serious finding of axe, or a
   * page that scrolls sideways, is a complaint. With FAREBOX_SCREENSHOTS=1 pictures are kept.
   */
  async inspect(name: string): Promise<void> {
    if (KEEPS_SCREENSHOTS) mkdirSync(SCREENSHOTS, { recursive: true });
    for (const scheme of ["light", "dark"] as const) {
      await this.page.emulateMedia({ colorScheme: scheme });
      await this.settled();
      await this.picture(`${name}-${scheme}`);
      await this.#axe(name, scheme);
    }
    const isCut = await this.page.evaluate(
      "[...document.querySelectorAll('.frame-side')].some((e) => e.scrollWidth > e.clientWidth)",
    );
    if (isCut) this.complaints.push(`${name} has a sidebar that scrolls sideways`);
    await this.page.emulateMedia({ colorScheme: "light" });
    await this.page.setViewportSize(PHONE);
    await this.settled();
    await this.picture(`${name}-phone`);
    const isWider = await this.page.evaluate(
      "document.documentElement.scrollWidth > window.innerWidth + 1",
    );
    if (isWider) this.complaints.push(`${name} scrolls sideways on a phone`);
    await this.page.setViewportSize(WIDE);
  }

  /** Keeps a picture of the page with FAREBOX_SCREENSHOTS=1. */
  async picture(name: string): Promise<void> {
    if (!KEEPS_SCREENSHOTS) return;
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
  }

  async #axe(name: string, scheme: "light" | "dark"): Promise<void> {
    // Legacy mode only omits a second page, which would join the findings of foreign frames.
    const axe = new AxeBuilder({ page: this.page }).setLegacyMode();
    axe.options({ resultTypes: ["violations"] });
    // The dark page differs from the light one only in its colours.
    if (scheme === "dark") axe.withRules("color-contrast");
    const { violations } = await axe.analyze();
    for (const { id, impact, nodes } of violations) {
      if (impact !== "serious" && impact !== "critical") continue;
      const where = nodes.map((node) => `${node.target} ${node.any[0]?.message ?? ""}`);
      this.complaints.push(`${name} (${scheme}): ${id} at ${where.slice(0, 3).join(" | ")}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
  }
}
