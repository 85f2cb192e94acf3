// The reasons of failed payments, by the code of the provider, for mails and pages in each
// language. A code without words is shown as it is.

export const ENGLISH_FAILURES = {
  generic_decline: "The card was declined",
  card_declined: "The card was declined",
  insufficient_funds: "The card has too little money",
  stolen_card: "The card was reported stolen",
  authentication_required: "The bank wants you to confirm the payment",
};

type Failures = typeof ENGLISH_FAILURES;

export const GERMAN_FAILURES: Failures = {
  generic_decline: "Die Karte wurde abgelehnt",
  card_declined: "Die Karte wurde abgelehnt",
  insufficient_funds: "Die Karte ist nicht ausreichend gedeckt",
  stolen_card: "Die Karte ist als gestohlen gemeldet",
  authentication_required: "Die Bank verlangt, dass Sie die Zahlung bestätigen",
};

export const CHINESE_FAILURES: Failures = {
  generic_decline: "银行卡被拒绝",
  card_declined: "银行卡被拒绝",
  insufficient_funds: "卡内余额不足",
  stolen_card: "此卡已挂失",
  authentication_required: "银行要求您确认此笔付款",
};

/** The words for a code. */
export function failureWords(words: Failures, code: string): string {
  return isKnown(words, code) ? words[code] : code.replaceAll("_", " ");
}

function isKnown(words: Failures, code: string): code is keyof Failures {
  return Object.hasOwn(words, code);
}
