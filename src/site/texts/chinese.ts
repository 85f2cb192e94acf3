// The texts of the front page, in Simplified Chinese.

import type { SiteTexts } from "./english.ts";

export const chineseSite: SiteTexts = {
  title: (service) => `${service}：一个 API 密钥，使用模型、搜索、地图和邮件`,
  about: "一个密钥，一份预付余额，即可使用模型、网页搜索、地图和邮件。",
  skip: "跳到正文",
  main: "主导航",
  language: "语言",
  prices: "价格",
  docs: "文档",
  signIn: "登录",
  signUp: "注册",
  createAccount: "注册账户",
  readDocs: "阅读文档",
  lead:
    "一次充值，全部可用。每次调用先按最高费用预扣，再按实际费用精确扣费，其余立即退还。" +
    "余额绝不会低于零。",
  receiptTitle: "按今日价格，一次调用的费用",
  charged: "扣费",
  webSearch: "网页搜索",
  lines: {
    tokensIn: "输入 token",
    tokensOut: "输出 token",
    results: "条结果",
    request: "次请求",
  },
  at: "×",
  units: {
    million: "/ 百万 token",
    millionShort: "/ 百万",
    result: "/ 条结果",
    request: "/ 次请求",
    calls: "/ 1,000 次调用",
    tiles: "/ 1,000 张地图瓦片",
    message: "/ 封邮件",
    recipient: "/ 位收件人",
  },
  sold: "服务与价格",
  from: "低至",
  services: {
    chat: {
      title: "对话模型",
      about: "一套 API，多种模型，支持流式输出，兼容 OpenAI 与 Anthropic 格式。",
    },
    search: { title: "搜索", about: "网页搜索，支持单次和批量，按结果计费。" },
    maps: { title: "地图", about: "地点、路线、路况、天气和地图。" },
    mail: { title: "邮件", about: "事务邮件，送达前全程加密封存，并报告退信。" },
  },
  models: "模型与价格",
  modelsNote: "每百万 token 的 USD 价，即当前扣费价格。程序可读取同一列表：",
  priceList: "价格表",
  columns: { model: "模型", input: "输入", cached: "缓存输入", output: "输出" },
  none: "无",
  gap: "",
  stop: "。",
  more: (count) => `另有 ${count} 个：`,
  allModels: "全部模型",
  firstCall: "首次调用",
  firstCallNote: "OpenAI 和 Anthropic API 的客户端只需更换基础地址和密钥即可使用。",
};
