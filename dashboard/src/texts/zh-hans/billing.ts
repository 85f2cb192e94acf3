// Texts of billing, in Simplified Chinese.

import type { ConsentVersion } from "../../../../src/core/money/consent.ts";
import { moneyText } from "../../money.ts";
import { nameOf } from "../../name-of.ts";
import { countText } from "../../numbers.ts";
import type { Texts } from "../en/english.ts";
import { ROLES } from "./names.ts";

const CONSENTS: Readonly<Record<ConsentVersion, string>> = {
  "2026-11":
    "我同意保存此卡，并在我发起充值或已设置自动充值时，无需再次询问即可从此卡扣款。我可以随时移除此卡。",
  "plan-2026-11":
    "我同意从已保存的卡（如已移除，则从最新的卡）立即扣取此套餐的费用，并在之后每个套餐月开始时再次扣取，" +
    "直到我取消。升级到更高套餐时，扣取当月剩余时间的差价。",
};

export const billingTexts: Texts["billing"] = {
  forbidden: (role) => `您在此的角色是${nameOf(ROLES, role)}，需要财务权限才能付款。`,
  noProvider: "此系统未接入支付渠道，付款由运营方手动登记。",
  sandbox:
    "当前为支付沙盒，不会产生真实扣款。卡号 4242 4242 4242 4242 付款成功，" +
    "4000 0000 0000 0002 会被拒绝。",
  owedHow: "一笔付款在额度用完后被撤回。请充值：充值会先偿还欠款，随后调用立即恢复。",
  caps: {
    title: "充值限额",
    now: "当前最多",
    min: "最少",
    once: "单次充值",
    day: "24 小时内",
    autoMonth: "每月自动充值",
    fee: "手续费",
    tax: "税费",
  },
  taxAdded: "由支付渠道另行加收",
  fee: ({ percent, fixed_usd: fixed }) => `${countText(percent)}% + ${moneyText(fixed)}`,
  amount: "充值金额（USD）",
  payWith: "支付方式",
  otherCard: "在支付页面使用银行卡",
  saveCard: "保存此卡",
  saveCardAbout: "用于以后由您发起或在下方开启的充值。",
  toPage: "前往支付页面",
  payNow: "立即支付",
  youPay: "支付",
  youGet: "到账",
  plusTax: "另加税费",
  bonusOnTop: "首次付款额外赠送",
  ofItFee: "其中手续费",
  paysOwed: "偿还欠款",
  tooSmall: (least) => `至少 ${least}`,
  tooLarge: (most) => `当前最多 ${most}`,
  noPage: "支付渠道没有返回支付页面，请重试。",
  declined: (why) => (why === null ? "银行卡被拒绝，未扣款。" : `银行卡被拒绝：${why}`),
  lostAnswer:
    "暂不清楚是否已扣款。请再支付一次：同一订单不会重复扣款。新建订单前，请先查看付款记录。",
  earlierOrder:
    "此前已受理另一笔不同金额的订单，因此本次未受理。请查看付款记录；如两笔都需要，请再次支付。",
  credited: (amount) => `${amount} 已计入您的余额。`,
  returned: {
    open: (amount) => `${amount} 的付款尚未确认……`,
    succeeded: (amount) => `${amount} 已计入您的余额。`,
    failed: (amount) => `${amount} 的付款失败，未扣款。`,
    expired: (amount) => `${amount} 的付款未完成。`,
  },
  returnedUnknown: "付款结果尚不明确，页面会继续查询。",
  underWay: "付款处理中，确认后余额会立即更新。",
  cards: "已保存的卡",
  card: "银行卡",
  noCards: "没有保存的卡。充值时可选择保存。",
  cardFacts: (expires, saved) => `有效期至 ${expires} · 保存于 ${saved}`,
  removeCard: "移除",
  removeCardTitle: (card) => `移除 ${card}？`,
  removeCardAbout: "支付渠道中的记录也会删除，使用此卡的自动充值将暂停。",
  cardRemoved: "已移除此卡。",
  autoAbout: "余额低于设定值时，从已保存的卡扣款并立即到账。",
  autoNeedsCard: "需要已保存的卡：请先充值一次并保存银行卡。",
  autoNotInTier: "首次付款后可用。",
  autoOn: "开启",
  autoOff: "关闭",
  autoOffTitle: "关闭自动充值？",
  autoOffAbout: "此后不会再自动扣款。余额用完后调用会停止。",
  autoChange: "修改",
  autoResume: "检查并恢复",
  autoSaved: "自动充值已开启。",
  autoPaused: (reason) =>
    `自动充值已暂停${reason === null ? "" : `（${reason}）`}。请检查银行卡，然后恢复。`,
  consent(version, words) {
    const known: Readonly<Record<string, string>> = CONSENTS;
    return known[version] ?? words;
  },
  autoAmount: "每次充值",
  autoCharged: "每次从卡中扣款：",
  autoBelow: "当余额低于",
  autoCap: "每月最多（UTC）",
  autoCaps: (once, month) => `您的等级允许每次 ${once}，每月 ${month}。`,
  payments: "付款记录",
  paymentsAbout: "时间为 UTC",
  paymentsCut: (most) => `最近 ${most} 笔付款和充值；下方流水列出了余额的全部变动。`,
  noPayments: "暂无付款",
  noPaymentsAbout: "充值及其收据会显示在这里。",
  payment: "付款",
  bonus: "赠送",
  refund: "退款",
  dispute: "拒付争议",
  receipt: "收据",
  documents: {
    open: "发票",
    title: "发票和贷项通知单",
    none: "这笔付款没有发票。",
    kinds: { invoice: "发票", credit_note: "贷项通知单" },
  },
  voucher: {
    title: "兑换代金券",
    about: "金额会计入此账户的余额，不会过期。",
    code: "代金券代码",
    redeem: "兑换",
    redeemed: (usd) => `${usd} 已计入您的余额。`,
    repeated: "此账户已兑换过这张代金券，余额没有变化。",
  },
  goOn: "继续支付",
  plusFee: (fee) => `另加手续费 ${fee}`,
  plusPaidTax: (tax) => `另加税费 ${tax}`,
  columns: {
    at: "时间（UTC）",
    what: "类型",
    state: "状态",
    receipt: "收据",
    amount: "额度",
  },
  kinds: {
    checkout: "充值",
    card: "用已保存的卡充值",
    auto: "自动充值",
    plan: "套餐",
  },
  states: {
    open: "处理中",
    succeeded: "已支付",
    failed: "失败",
    expired: "未支付",
    refunded: "已退款",
  },
  failures: {
    generic_decline: "银行卡被拒绝",
    card_declined: "银行卡被拒绝",
    insufficient_funds: "卡内余额不足",
    stolen_card: "此卡已挂失",
    authentication_required: "银行要求您确认此笔付款",
  },
  disputes: { open: "处理中", won: "已判您胜诉", lost: "已败诉" },
  ledger: "余额流水",
  ledgerKind: "流水内容",
  ledgerKinds: { operations: "不含调用", all: "全部" },
  noEntries: "余额尚无变动。",
  ledgerColumns: {
    at: "时间（UTC）",
    what: "类型",
    about: "说明",
    amount: "变动",
    paid: "变动后付费余额",
    free: "变动后赠送额度",
    owed: "变动后欠款",
  },
  entries: {
    charge: "调用",
    late_charge: "调用（补计费）",
    credit: "入账",
    bonus: "赠送",
    reversal: "撤回",
    restore: "退还",
    adjustment: "调整",
    forgiven: "免除",
    repayment: "偿还欠款",
    free_expired: "赠送额度到期",
  },
};
