// Tests that the sandbox's pages are in the language of their reader, from the page with the cards
// to the receipt, and the page that plays banks. That no text is missing is a matter of types.

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

  test("plays the bank in that language, and reads what became of each action", async () => {
    const { bank } = texts;
    const { store } = lab.sandbox.actions;
    const headers = { "accept-language": accepted };
    const overview = () => read(lab.sandbox.url, headers);
    const act = async (form: Record<string, string>) => {
      const body = new URLSearchParams(form);
      const reply = await fetch(`${lab.sandbox.url}/act`, { method: "POST", headers, body });
      return { status: reply.status, text: await reply.text() };
    };
    const url = await newPage();
    expectShown(await overview(), bank.pages, bank.payments, bank.cards, texts.pay(amount));
    await pay(url, CARDS.declined, accepted);
    expectShown(await overview(), bank.payment(amount, bank.paymentStates.requires_payment_method));
    await pay(url, CARDS.ok, accepted);
    const [intent] = store.list("payment_intent");
    const { id = "" } = intent ?? {};
    const paid = await overview();
    expectShown(paid, bank.payment(amount, bank.paymentStates.succeeded), bank.change);
    expectShown(paid, bank.card("4242", bank.results.ok), bank.results.insufficient_funds);
    const { refund, dispute, inquire, warn } = bank.actions;
    expectShown(paid, refund, dispute, inquire, warn);
    expectShown(
      await act({ do: "dispute", id, status: "warning_needs_response" }),
      bank.dispute(bank.disputeStates.warning_needs_response),
      bank.actions.win,
      bank.actions.lose,
    );
    const [opened] = store.list("dispute");
    const won = await act({ do: "move", id: opened?.id ?? "", status: "won" });
    expectShown(won, bank.dispute(bank.disputeStates.won));
    const refunded = await act({ do: "refund", id });
    const made = bank.refund(amount, bank.refundStates.succeeded);
    expectShown(refunded, made, bank.actions.fail);
    // Nothing is left to refund, so there is no button for it; a page from before has one.
    const fields = `value="refund"><input type="hidden" name="id" value="${id}"`;
    expect(paid.text).toContain(fields);
    expect(refunded.text).not.toContain(fields);
    const late = await act({ do: "refund", id });
    expect(late.status).toBe(400);
    expectShown(late, texts.refusals.changed, texts.allPayments);
    const [last] = store.list("refund");
    const failed = await act({ do: "fail", id: last?.id ?? "" });
    expectShown(failed, bank.refund(amount, bank.refundStates.failed));
  });

  test("reads in that language that pages of other sites are refused", async () => {
    const headers = { "accept-language": accepted, origin: "https://evil.example" };
    const refused = await read(lab.sandbox.url, headers);
    expect(refused.status).toBe(403);
    expectShown(refused, texts.refusals.foreign);
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

test("a choice on one page is kept for all pages", async () => {
  const chosen = await fetch(`${lab.sandbox.url}/?language=de`);
  expect(await chosen.text()).toContain('<html lang="de">');
  expect(chosen.headers.get("set-cookie")).toStartWith(`${LANGUAGE_COOKIE}=de;`);
  const unchosen = await fetch(lab.sandbox.url);
  expect(await unchosen.text()).toContain('<a href="/?language=de" lang="de"');
  expect(unchosen.headers.get("set-cookie")).toBeNull();
});
