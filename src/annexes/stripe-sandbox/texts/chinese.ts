// The texts of the pages where a payment is made, in Simplified Chinese.

import { toDollars } from "../../../core/money/money.ts";
import { CHINESE_CONSENTS } from "../../../core/money/translated-consents.ts";
import type { SandboxTexts } from "./english.ts";

export const chineseSandbox: SandboxTexts = {
  notice: "这是 Farebox 的支付沙盒，并非 Stripe，不会产生真实扣款。",
  language: "语言",
  usd: toDollars,
  pay: (amount) => `支付 ${amount}`,
  testCard: "测试卡",
  cards: {
    accepted: "扣款成功，之后也成功",
    declined: "被拒绝",
    laterDeclined: "此次成功，之后扣款时被拒绝",
    laterHolder: "此次成功，之后扣款时需要持卡人确认",
    insufficientFunds: "因卡内余额不足被拒绝",
    disputed: "扣款成功，随即发生拒付争议",
    fraudWarning: "扣款成功，银行警告此卡可能被盗",
    refundFails: "扣款成功，但退款会失败",
  },
  consents: CHINESE_CONSENTS,
  line: (name, amount) => `${name}：${amount}`,
  credit: "预付余额",
  fee: "支付手续费",
  plan: (title) => `套餐 ${title}`,
  tax: "税费",
  backUnpaid: "返回，不支付",
  closed: {
    complete: "此页面已支付。",
    expired: "此页面已过期。",
  },
  paidTitle: "已支付",
  paid: "支付成功，没有产生真实扣款。",
  back: "返回",
  allPayments: "所有付款",
  receipt: "收据",
  invoice: "发票",
  creditNote: "贷项通知单",
  problems: {
    card_declined: "银行卡被拒绝。",
    incorrect_number: "沙盒只接受自己的测试卡。",
  },
  notFoundTitle: "未找到",
  notFound: "没有此页面。",
};
