// Texts of the playground, in Simplified Chinese.

import { nameOf } from "../../name-of.ts";
import type { Texts } from "../en/english.ts";
import { ROLES } from "./names.ts";

const STATUSES: Readonly<Record<string, string>> = {
  queued: "已排队",
  sent: "已发送",
  failed: "发送失败",
};

export const playgroundTexts: Texts["playground"] = {
  about: "真实调用、真实价格，从当前余额支付，并计入请求记录。",
  forbidden: (role) =>
    `试用台的调用会产生费用。您在此的角色是${nameOf(ROLES, role)}，需要财务权限。`,
  service: "服务",
  message: "消息",
  send: "发送",
  stop: "停止",
  conversation: "对话",
  who: { user: "您", assistant: "模型" },
  noLines: "还没有消息。回复会边生成边显示。",
  incomplete: "填写各项后即可查看价格。",
  estimating: "正在查询价格……",
  holds: "预扣",
  atMost: "调用最多花费这么多，未用部分立即退还",
  cost: "花费",
  cap: "单次调用上限",
  capAbout: "可选。对话会缩短到上限以内；放不下的调用会被拒绝。",
  query: "搜索内容",
  search: "搜索",
  nothingFound: "没有结果，不收费。",
  ask: "查询",
  picture: "地点图片",
  answer: "结果",
  subject: "主题",
  text: "正文",
  sendMail: "发给自己",
  mailTo: (email) => `邮件将发送至您自己的邮箱 ${email}。`,
  mailSubject: "来自试用台的邮件",
  mailText: "这封邮件由 API 发送。",
  broken: "回复中断。已生成的部分会计费，金额见收据。",
  mailSent: (status) => `邮件${nameOf(STATUSES, status)}：`,
};
