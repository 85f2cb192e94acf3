// The texts by which a holder agrees to later charges, in the languages of pages besides English.

import type { ConsentTexts } from "./consent.ts";

export const GERMAN_CONSENTS: ConsentTexts = {
  "2026-11":
    "Ich bin einverstanden, dass diese Karte gespeichert und ohne weitere Rückfrage belastet " +
    "wird, wenn ich eine Aufladung auslöse oder automatische Aufladungen eingerichtet habe. Ich " +
    "kann die Karte jederzeit entfernen.",
  "plan-2026-11":
    "Ich bin einverstanden, dass meine gespeicherte Karte, oder die neueste, falls sie entfernt " +
    "wird, jetzt und zu Beginn jedes Tarifmonats mit dem Preis dieses Tarifs belastet wird, bis " +
    "ich ihn kündige. Für einen höheren Tarif wird sie mit der Differenz für den Rest des Monats " +
    "belastet.",
};

export const CHINESE_CONSENTS: ConsentTexts = {
  "2026-11":
    "我同意保存此卡，并在我发起充值或已设置自动充值时，无需再次询问即可从此卡扣款。我可以随时移除此卡。",
  "plan-2026-11":
    "我同意从已保存的卡（如已移除，则从最新的卡）立即扣取此套餐的费用，并在之后每个套餐月开始时再次扣取，" +
    "直到我取消。升级到更高套餐时，扣取当月剩余时间的差价。",
};
