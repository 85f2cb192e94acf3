// The name of a field tells its kind: `…_usd` is an amount; `at`, `since`, `from`, `to` and `…_at`
// are times (D-642).

/** The kind of a field that has this name. */
export function fieldKindOf(name: string): "usd" | "time" | "text" {
  if (name.endsWith("_usd")) return "usd";
  return /^(?:at|since|from|to|.+_at)$/.test(name) ? "time" : "text";
}
