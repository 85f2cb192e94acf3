// Names that several texts need, in Simplified Chinese.

import type { LineNames, RoleNames, ScopeNames, ServiceTitles } from "../names.ts";

export const ROLES: RoleNames = {
  owner: "所有者",
  admin: "管理员",
  billing: "财务",
  viewer: "只读成员",
};

export const SCOPES: ScopeNames = {
  models: "模型",
  search: "搜索",
  maps: "地图",
  mail: "邮件",
};

export const SERVICES: ServiceTitles = {
  account: "账户",
  chat: "模型",
  search: "搜索",
  maps: "地图",
  mail: "邮件",
};

export const LINES: LineNames = {
  "input tokens": "输入 token",
  "cached input tokens": "缓存命中的输入 token",
  "output tokens": "输出 token",
  "cached audio": "缓存命中的音频",
  "cache writes for 5 minutes": "写入缓存（5 分钟）",
  "cache writes for 30 minutes": "写入缓存（30 分钟）",
  "cache writes for an hour": "写入缓存（1 小时）",
  "cache writes for a day": "写入缓存（1 天）",
  "image input": "图片输入",
  "audio input": "音频输入",
  "image output": "图片输出",
  "audio output": "音频输出",
  request: "请求",
  results: "搜索结果",
  action: "操作",
  message: "邮件",
  recipients: "收件人",
};
