// The texts of the service's own mails, in Simplified Chinese.

import { localUsd } from "../money/local-usd.ts";
import { CHINESE_FAILURES } from "../money/payment-failures.ts";
import type { MailTexts } from "./english.ts";

const IGNORE = "如果不是您本人操作，请忽略此邮件，不会有任何影响。";
const FREE_PLAN = "之后套餐终止，账户转为 Free 套餐。";
const UTC = { timeZone: "UTC" } as const;
const DAY = new Intl.DateTimeFormat("zh-CN", { ...UTC, dateStyle: "long" });
const TIME = new Intl.DateTimeFormat("zh-CN", { ...UTC, dateStyle: "long", timeStyle: "short" });

export const chineseMails: MailTexts = {
  gap: "",
  usd: (amount) => localUsd("zh-Hans", amount),
  time: (time) => `${TIME.format(time)} UTC`,
  day: (time) => DAY.format(time),
  reader: {
    language: "zh-Hans",
    why: (service) => `${service} 因您的账户或相关请求发送此邮件。`,
    questions: (address) => `如有疑问：${address}`,
  },
  buttons: {
    payments: "查看付款记录",
    cards: "查看银行卡",
    receipt: "打开收据",
    topUp: "充值",
    webhooks: "查看 Webhook",
    limits: "查看限额",
    signIn: "登录",
    newPassword: "设置新密码",
  },
  facts: {
    code: "验证码",
    role: "角色",
    payment: "付款",
    date: "日期",
    paidOn: "付款时间",
    price: "价格",
    credit: "额度",
    bonus: "赠送",
    fee: "手续费",
    tax: "税费",
    youPaid: "实付",
    reference: "编号",
    reason: "原因",
    webhook: "Webhook",
    paidBalance: "付费余额",
    lastTopUp: "上次充值",
    freeCredit: "赠送额度",
    ends: "到期时间",
    key: "密钥",
    spentInFive: "五分钟内花费",
    ruleFires: "规则触发金额",
  },
  verification: {
    subject: "请验证您的邮箱",
    paragraphs: ["您用此邮箱申请了账户。验证后账户即可开通。", `链接 24 小时内有效。${IGNORE}`],
    button: "验证此邮箱",
  },
  alreadyKnown: {
    subject: "您已有账户",
    paragraphs: [
      "您用此邮箱申请账户，但该邮箱已有账户。请直接登录；如忘记密码，请设置新密码。",
      IGNORE,
    ],
  },
  code: {
    subject: (code) => `您的验证码是 ${code}`,
    paragraphs: [
      "请在申请验证码的页面输入。仅可使用一次，五分钟内有效。",
      `请勿告诉任何人，我们绝不会向您索取。${IGNORE}`,
    ],
  },
  passwordReset: {
    subject: "设置新密码",
    paragraphs: ["有人请求为此邮箱设置新密码。", `链接一小时内有效，仅可使用一次。${IGNORE}`],
  },
  changeEmail: {
    subject: "请验证您的新邮箱",
    paragraphs: ["您希望今后使用此邮箱登录。请在登录状态下确认。", `链接一小时内有效。${IGNORE}`],
    button: "使用此邮箱",
  },
  invitation: {
    subject: (by) => `${by} 邀请您加入`,
    paragraphs: (by, account) => [
      `${by} 邀请您加入账户“${account}”。`,
      "请用此邮箱登录或注册以接受邀请。链接七天内有效。",
    ],
    button: "查看邀请",
    roles: { owner: "所有者", admin: "管理员", billing: "财务", viewer: "只读成员" },
  },
  notices: {
    factorOn: "双重验证的应用已开启",
    factorOff: "双重验证的应用已关闭",
    codesReplaced: "您的备用码已更换",
    passwordChanged: "您的密码已修改",
    factorLocked: (minutes) => `错误次数过多，双重验证已锁定 ${minutes} 分钟`,
    addressChanged: (to) => `您的邮箱已更换为 ${to}`,
    addressByOperator: (from, to) => `运营方已将您的邮箱从 ${from} 更换为 ${to}`,
    passkeyAdded: (name) => `已添加通行密钥：${name}`,
    passkeyRemoved: (name) => `已移除通行密钥：${name}`,
    ssoLinked: (host) => `您现在可以通过 ${host} 登录`,
  },
  noticeParagraphs: (what, isPasskey) => [
    `${what}。如果是您本人操作，无需处理。`,
    `如果不是，请立即${isPasskey ? "移除该通行密钥并" : ""}设置新密码，所有登录会话也将随之结束。`,
  ],
  formerAddressParagraphs: (what) => [
    `${what}。如果是您本人操作，无需处理。`,
    "如果不是，请立即联系本服务的运营方：收到此邮件的邮箱已不能登录，也不会再收到设置新密码的链接。",
  ],
  payments: {
    plan: (title) => `${title} 套餐`,
    kinds: {
      plan: "套餐",
      checkout: "充值",
      card: "用已保存的卡充值",
      auto: "自动充值",
    },
    noReason: "未说明原因",
    failures: CHINESE_FAILURES,
  },
  receipt: {
    subject: (credited) => `收据：${credited} 已计入余额`,
    paragraph: (credited) => `感谢您的付款。${credited} 已计入您的预付余额。`,
  },
  planReceipt: {
    subject: (paid, title) => `收据：${title} 套餐 ${paid}`,
    paid: (title, until, price) =>
      `感谢您的付款。${title} 套餐已付至 ${until}。下个月将从您的卡扣取 ${price}，除非您提前取消。`,
    extended: (title) => `感谢您的付款。${title} 套餐本月已付过，因此顺延一个月。`,
    takenBack: (title) => `您为 ${title} 套餐的付款没有改变套餐：款项在生效前被撤回。`,
    late: (title) =>
      `您为 ${title} 套餐的付款没有改变套餐：款项到达过晚。如未及时退款，请申请退款。`,
  },
  autoPaused: {
    subject: "您的自动充值已暂停",
    reasons: {
      card_failed: "您的卡被拒绝，不会再次扣款。",
      authentication_required: "您的银行要求您亲自确认已保存卡的付款。",
      card_removed: "用于自动充值的卡已移除。",
      refund: "您的一笔付款已退款。",
      dispute: "您的一笔付款存在争议，或银行正在查询。",
      fraud_warning: "发卡银行报告您的一笔付款可能存在欺诈。",
    },
    goesOn: (hasCard) =>
      `暂停期间不会自动扣款。${hasCard ? "下一笔付款成功后，或" : ""}您重新设置后即可恢复。`,
  },
  chargeFailed: {
    wrongSubject: "一笔扣款未入账",
    subject: (amount) => `未能从您的卡扣取 ${amount}`,
    wrong: "已从您保存的卡扣款，但金额与订单不符，因此未计入余额。如未及时退款，请申请退款。",
    failed: (amount) => `从您保存的卡扣取 ${amount} 失败。未扣款，余额也未增加。`,
    again: (time) => `将于 ${time} 再试一次。`,
    notAgain: "不会再次尝试。",
  },
  planChargeFailed: {
    wrongSubject: (title) => `一笔扣款未计入 ${title} 套餐`,
    subject: (amount, title) => `未能从您的卡扣取 ${title} 套餐费用 ${amount}`,
    wrong: "已从您保存的卡扣款，但金额与套餐价格不符。如未及时退款，请申请退款。",
    failed: (amount) => `从您保存的卡扣取 ${amount} 失败，未扣款。`,
    next: {
      start: "套餐未开始。",
      upgrade: "您的套餐保持不变。",
      renewal: `套餐月结束后仍可继续使用三天，每天会再次尝试扣款。${FREE_PLAN}`,
      notMade: `如果套餐仍需支付本月费用，将在上个月结束后的三天内再次尝试扣款。${FREE_PLAN}`,
    },
  },
  planEnded: {
    subject: (title) => `您的 ${title} 套餐已终止`,
    paragraph: (title, why) => `您的 ${title} 套餐已终止。${why}`,
    why: {
      canceled: "套餐已取消。",
      unpaid: "下个月的费用未支付。",
      reversed: "套餐付款被撤回。",
      voucher: "代金券赠送的套餐期已结束。",
    },
    after: "您的账户现为 Free 套餐，适用其限额。余额和密钥保持不变。",
  },
  refund: {
    subject: (part) => `退款 ${part}`,
    paragraph: (part, whole) => `您 ${whole} 的付款已退款 ${part}。`,
    ofPlan: "该付款用于套餐，因此余额不变。",
    taken: "相应的额度和赠送已从余额中扣除。",
    takenBefore: "其额度此前已从余额中扣除。",
    failedSubject: (part) => `退款 ${part} 失败`,
    failed: (part) => `退款 ${part} 在您的银行处理失败。`,
    givenBack: "其额度已退回余额。",
  },
  disputeOpened: {
    subject: "一笔付款存在争议：您的账户已暂停",
    ofPlan: (amount) => `您为套餐支付的 ${amount} 在银行被提出争议。争议解决前，调用会被拒绝。`,
    ofCredit: (amount) =>
      `您支付的 ${amount} 在银行被提出争议。争议解决前，其额度已从余额中扣除，调用会被拒绝。`,
    withdraw: "如果您无意提出争议，请联系银行撤回。",
  },
  disputeDecided: {
    lostSubject: "争议已有结果：额度不再退回",
    wonSubject: "争议已结束：额度已退回",
    overSubject: "争议已结束",
    lost: (amount, taken) =>
      `您 ${amount} 付款的争议已有结果：款项退还给您，${taken} 额度不再退回。如果已用额度超过余额，` +
      "在充值补足差额前，调用会被拒绝。",
    won: (amount, restored) =>
      `您 ${amount} 付款的争议已结束。${restored} 额度已退回余额，账户不再因此暂停。`,
    over: (amount) =>
      `您 ${amount} 付款的争议已结束。该付款已退款，因此额度不再退回。账户不再因此暂停。`,
    planLostSubject: "争议已有结果",
    planLost: (amount) => `您为套餐支付的 ${amount} 的争议已有结果：款项退还给您。`,
    planOver: (amount) => `您为套餐支付的 ${amount} 的争议已结束，账户不再因此暂停。`,
  },
  lowBalance: {
    subject: (percent) => `您的余额低于上次充值的 ${percent}%`,
    paragraph: (paid) => `付费余额还剩 ${paid}。费用超过余额的调用会被拒绝，且不收费。`,
  },
  freeEnding: {
    subject: (day) => `您的赠送额度将于 ${day}到期`,
    paragraph: (left, day) =>
      `赠送额度还剩 ${left}，将于 ${day}（UTC）到期。如需继续使用，请充值。`,
  },
  webhookDisabled: {
    subject: (host) => `您在 ${host} 的 Webhook 已停用`,
    why: {
      gone: "它返回了 410（Gone），表示不再接收事件。",
      failing: "多次尝试后，它在 24 小时内没有接收任何事件。",
    },
    after: "重新启用前不会再向它发送事件。最近 30 天内未接收的事件届时可以重新发送。",
  },
  burnRate: {
    subject: (key) => `您的密钥“${key}”花费过快`,
    paragraph: (key, spent) => `密钥“${key}”在五分钟内花费了 ${spent}，超过了花费速度规则的限度。`,
    alert: "密钥未受影响，其调用照常进行。",
    slow: (requests, until) => `在 ${until} 之前，它每分钟最多可发 ${requests} 个请求。`,
    pause: (until) => `它已暂停至 ${until}：收费的调用会被拒绝，且不扣费。`,
    after: "您可以在“限额”页面提前结束。",
  },
};
