// Tests that the sandbox's pages to pay on are in the language of their payer, from the page with
// the cards to the receipt. That no text is missing is a matter of types.

import { describe, expect, test } from "bun:test";
import { englishSandbox } from "../../../src/annexes/stripe-sandbox/texts/english.ts";
import { SANDBOX_TEXTS } from "../../../src/annexes/stripe-sandbox/texts/sandbox-texts.ts";
import { LANGUAGE_COOKIE, type Language } from "../../../src/core/languages.ts";
import { CONSENT_VERSION } from "../../../src/core/money/consent.ts";
import { startCheckout } from "../../../src/payments/top-ups.ts";
import { shared } from "../../support/shared.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";
import { textsIn } from "../../support/texts-in.ts";

const lab = await shared(openPaymentLab());

/** The address of a new page, for a top-up of $20 whose card is saved. */
async function newPage(): Promise<string> {
  const { row } = await lab.account();
  const { url } = await startCheckout(lab.payments, row, { amount: usd("20"), savesCard: true });
  return url ?? "";
}

interface Shown {
  readonly status: number;
  readonly text: string;
}

async function read(url: string, headers: Record<string, string> = {}): Promise<Shown> {
  const reply = await fetch(url, { headers });
  return { status: reply.status, text: await reply.text() };
}

async function pay(url: string, card: string, language: string): Promise<Shown> {
  const reply = await fetch(url, {
    method: "POST",
    headers: { "accept-language": language },
    body: new URLSearchParams({ card }),
  });
  return { status: reply.status, text: await reply.text() };
}

const AMOUNTS: Readonly<Record<Language, string>> = {
  en: "$20.00",
  de: "20,00\u00a0$",
  "zh-Hans": "$20.00",
};

/** The English sentences that a page of another language must not have. */
const SENTENCES = [...textsIn(englishSandbox)]
  .map(([, text]) => text)
  .filter((text) => text.includes(" "));

describe.each([
  ["en-US", "en"],
  ["de-AT", "de"],
  ["zh-CN", "zh-Hans"],
] as const)("a payer whose browser asks for %s", (accepted, language) => {
  const texts = SANDBOX_TEXTS[language];
  const amount = AMOUNTS[language];
  const expectShown = ({ text }: Shown, ...parts: readonly string[]) => {
    for (const part of [`<html lang="${language}">`, texts.notice, ...parts]) {
      expect(text).toContain(part);
    }
    const left = SENTENCES.filter((sentence) => text.includes(sentence));
    if (language !== "en") expect(left).toEqual([]);
  };

  test("reads cards, lines, consent, refusal, result and receipt in that language", async () => {
    const url = await newPage();
    const page = await read(url, { "accept-language": accepted });
    expectShown(page, texts.pay(amount), texts.line(texts.credit, amount));
    expectShown(page, texts.consents[CONSENT_VERSION], ...Object.values(texts.cards));
    const declined = await pay(url, CARDS.declined, accepted);
    expect(declined.status).toBe(402);
    expectShown(declined, `<strong>${texts.problems.card_declined}</strong>`);
    const unknown = await pay(url, "1", accepted);
    expect(unknown.status).toBe(402);
    expectShown(unknown, texts.problems.incorrect_number);
    const paid = await pay(url, CARDS.ok, accepted);
    expect(paid.status).toBe(200);
    expectShown(paid, texts.paid, texts.back);
    expectShown(await read(url, { "accept-language": accepted }), texts.closed.complete);
    const again = await pay(url, CARDS.ok, accepted);
    expect(again.status).toBe(402);
    expectShown(again, texts.closed.complete);
    const charges = lab.sandbox.actions.store.list("charge");
    const charge = charges.find(({ receipt_url: path }) => path !== null);
    const receipt = `${lab.sandbox.url}${charge?.receipt_url}`;
    const shown = await read(receipt, { "accept-language": accepted });
    expectShown(shown, texts.receipt, texts.line(texts.paidTitle, amount));
  });

  test("reads in that language that a page does not exist", async () => {
    for (const path of ["/pay/cs_none", "/receipt/pi_none", "/document/in_none", "/none"]) {
      const missing = await read(lab.sandbox.url + path, { "accept-language": accepted });
      expect(missing.status).toBe(404);
      expectShown(missing, texts.notFound);
    }
  });
});

test("a choice comes before the browser: of the address, then of the cookie", async () => {
  const url = await newPage();
  const headers = { "accept-language": "zh-CN", cookie: `${LANGUAGE_COOKIE}=de` };
  expect((await read(url, headers)).text).toContain('<html lang="de">');
  const chosen = await read(`${url}?language=en`, headers);
  expect(chosen.text).toContain('<html lang="en">');
  expect((await read(`${url}?language=zh-CN`)).text).toContain('<html lang="zh-Hans">');
  const { pathname } = new URL(url);
  expect(chosen.text).toContain(`<a href="${pathname}?language=zh-Hans" lang="zh-Hans"`);
});

test("the page that plays the bank is in English for everybody", async () => {
  const { text } = await read(lab.sandbox.url, { "accept-language": "de" });
  expect(text).toContain('<html lang="en">');
});
