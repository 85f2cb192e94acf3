// Every text of the pages, in Simplified Chinese.

import { nameOf } from "../../name-of.ts";
import type { Texts } from "../en/english.ts";
import { billingTexts } from "./billing.ts";
import { entryTexts } from "./entry.ts";
import { ROLES, SCOPES, SERVICES } from "./names.ts";
import { peopleTexts } from "./people.ts";
import { planTexts } from "./plan.ts";
import { playgroundTexts } from "./playground.ts";
import { refusalTexts } from "./refusals.ts";
import { usageTexts } from "./usage.ts";
import { webhookTexts } from "./webhooks.ts";
import { workTexts } from "./work.ts";

export const texts: Texts = {
  nav: {
    label: "主导航",
    skip: "跳到正文",
    menu: "打开导航",
    accounts: "账户",
    you: "个人设置",
    support: "联系客服",
    groups: { top: "", build: "开发", account: "账户" },
    pages: {
      overview: "概览",
      usage: "用量",
      requests: "请求记录",
      keys: "密钥",
      models: "模型",
      playground: "试用台",
      webhooks: "Webhook",
      billing: "账单",
      plan: "套餐",
      limits: "限额",
      team: "团队",
      settings: "设置",
    },
    docs: "文档",
    scheme: { light: "浅色", dark: "深色", auto: "跟随系统" },
    schemeLabel: "外观",
    language: "语言",
    signOut: "退出登录",
    newAccount: "新建应用账户",
    surfaces: { gateway: "Gateway", application: "Application API" },
    roles: ROLES,
  },
  actions: {
    retry: "重试",
    cancel: "取消",
    close: "关闭",
    copy: "复制",
    copied: "已复制",
    save: "保存",
    saved: "已保存",
    docs: "文档",
    addCredit: "充值",
    continue: "继续",
    clear: "清除",
  },
  states: {
    loading: "加载中",
    failed: "加载失败",
    mayBeDone: "操作可能已经完成：重试前请先查看。",
    delayed: (time) => `数据有延迟：截至 ${time} UTC。`,
    asOfLoading: "正在加载数据……",
    asOf: (time, zone, behind) => `截至 ${time} ${zone}，滞后 ${behind} 秒`,
    none: "无",
    never: "从未",
    noRows: "暂无内容。",
    unreachable: "无法连接服务器，请检查网络后重试。",
    unreadable: "无法识别服务器返回的内容。",
    newVersion: "页面已更新，请重新加载。",
    reload: "重新加载",
    missing: "页面不存在",
    missingAbout: "地址可能有误，或页面已移走。",
    toOverview: "返回概览",
    noAccount: "您还没有账户",
    noAccountAbout: "请让账户所有者邀请您；如果您刚刚注册，请先验证邮箱。",
    forbidden: (role) => `您在此的角色是${nameOf(ROLES, role)}，只有管理员或所有者可以操作。`,
  },
  times: {
    now: "刚刚",
    minutesAgo: (count) => `${count} 分钟前`,
    hoursAgo: (count) => `${count} 小时前`,
    daysAgo: (count) => (count === 1 ? "昨天" : `${count} 天前`),
  },
  fields: {
    wrongAmount: "请输入金额，例如 25 或 12.50",
    typeToConfirm: (text) => `请输入 ${text} 以确认`,
  },
  balance: {
    spendable: "当前可用",
    nothing: "没有余额",
    parts: {
      paid: "付费余额",
      free: "赠送额度（仅限模型）",
      held: "进行中的调用预扣",
      owed: "欠款",
    },
    freeUntil: (day) => `赠送额度（仅限模型），有效期至 ${day}`,
    limits: {
      balance: "余额",
      tier_cap: "受当前等级的每月上限限制。",
      own_cap: "受您设置的每月上限限制。",
      budget: "受账户预算限制。",
      owed: "付清欠款前，调用会被拒绝。",
      inactive: "账户未启用，调用会被拒绝。",
    },
  },
  keyboard: {
    title: "键盘快捷键",
    keys: {
      "/": "跳转到页面或请求",
      n: "新建密钥",
      "?": "显示此列表",
      Esc: "关闭",
    },
    jump: "跳转到",
    jumpPlaceholder: "页面名称或请求 ID",
    openRequest: (id) => `打开请求 ${id}`,
    nothing: "没有找到",
  },
  services: SERVICES,
  scopes: SCOPES,
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
