// The promise of each command in the pages: what a page says that the command does, as its exit
// code, its output and the file that it writes (D-768).

export interface Promised {
  /** The exit code; 0 unless the page says another. */
  readonly code?: number;
  /** What the output has. */
  readonly says: RegExp;
  /** A file that it writes, with what is in it. */
  readonly file?: readonly [name: string, has: RegExp];
}

const LINK = /^This link signs ada@example\.\w+ in once, within .*\nhttps?:\/\/\S+#token=\S{40}/;
const BUDGET = /^The budget of the UTC day of the .*: \$5\d?\.$/m;
const PAID = /^Payment pay_\w{22}: \$\d+ of .* for acct_/;
const KEY =
  /^Created key key_\w{22}\. Store it now, it is not shown again:\nsvc_(?:live|sk)_\w+\n$/;

/** By the beginning of the command, as its page has it; the longest that fits counts. */
export const PROMISES: Readonly<Record<string, Promised>> = {
  // README.md
  "farebox account create --email ada@example.org": { says: /^Created account acct_\w{22}\./ },
  "farebox payment record acct_… --usd 50": { says: PAID },
  "farebox key create acct_… --scopes models --monthly-limit 20": { says: KEY },
  "farebox service pause model:farebox-guide": { says: /^model:farebox-guide is paused\.$/m },
  "farebox log export acct_… --from 2026-11-01 --to 2026-12-01 --out november.csv": {
    says: /^Wrote \d+ rows? to november\.csv\.$/m,
    file: ["november.csv", /^"time","request_id","key_id",.*\r\n"20/],
  },
  "farebox audit": { says: /^Clean: \d+ accounts, \d+ ledger entries, .* 0 open holds\.$/m },
  // docs/application.md
  "farebox account create --surface application": { says: /^Created account acct_/ },
  "farebox key create acct_… --scopes models": { says: KEY },
  "farebox payment record acct_… --usd 20": { says: PAID },
  "farebox account plan acct_… pro": { says: /\bpro\b/i },
  // docs/backup.md
  "farebox backup /backups/2026-11-22": {
    says: /^Wrote \d+ accounts and \d+ ledger entries as of 20/,
    file: ["backups/2026-11-22/manifest.json", /"sha256"/],
  },
  "farebox backup check /backups/2026-11-22": { says: /^All \d+ files are as they were written/ },
  // docs/burn-rates.md
  "farebox burn-rule add acct_… --above 2 --action alert": {
    says: /^Rule 1: each key: \$2 in five minutes: alert\.$/m,
  },
  "farebox burn-rule add acct_… --above 5 --times 3 --action pause --minutes 30": {
    says: /^Rule 2: each key: \$5 and 3 times the usual in five minutes: paused for 30 min\.$/m,
  },
  "farebox burn-rule list acct_…": { says: /^1 .*alert.*\n2 .*3 times .*pause/m },
  "farebox burn-rule alarms acct_…": { says: /^No alarms\.$/m },
  // docs/configuration.md
  "farebox config apply farebox.config.json --dry-run": { says: /would/i },
  'farebox config apply farebox.config.json --note "Prices of December" --expect 3': {
    says: /^Version 4\b/,
  },
  "farebox config history": { says: /Prices of December/ },
  "farebox config show --version 2": { says: /"providers"/ },
  'farebox config rollback 2 --note "Too dear"': { says: /^Version 5\b/ },
  // docs/end-users.md
  "farebox end-user budget acct_… --span day --usd 0.5": {
    says: /^The budget of the UTC day of the end user, for each end user: \$0\.5\.$/m,
  },
  "farebox end-user budget acct_… --span day --usd 5 --user customer-4711": {
    says: /^The budget of the UTC day of the end user, for one end user: \$5\.$/m,
  },
  "farebox end-user show acct_… --user customer-4711": { says: /^day +own .*left \$5/m },
  // docs/first-hour.md
  "farebox operator invite ada@example.org": { says: LINK },
  'farebox config apply farebox.config.json --note "First prices"': { says: /^Version \d+\b/ },
  "farebox payment record acct_7n42DGM5Tflk9n8mt7Fhc7 --usd 50": { says: PAID },
  // docs/focus.md
  "farebox usage focus acct_… --month 2026-11 --out november.csv": {
    says: /november\.csv/,
    file: ["november.csv", /BillingAccountId.*ProviderName[\s\S]*\n.*"?Usage"?/],
  },
  // docs/keys.md
  'farebox key set acct_… key_… --models "swift-*"': {
    says: /models swift-\*; 2000000 tokens a day; tags web\.$/m,
  },
  'curl -H "Authorization: Bearer $KEY" http://127.0.0.1:8080/v1/models': {
    says: /^(?!.*"test-model").*"swift-1"/s,
  },
  "farebox key set acct_… key_… --disabled yes": { says: /: disabled\.$/m },
  "farebox key set acct_… key_… --disabled no --models any --ends none": {
    says: /: enabled; no end; any model\.$/m,
  },
  // docs/mail.md
  "farebox mail test --to you@example.com": { says: /accepted the message/ },
  "openssl genrsa -out dkim.pem 2048": { says: /^$/, file: ["dkim.pem", /PRIVATE KEY/] },
  "openssl rsa -in dkim.pem -pubout -outform der | base64 -w0": { says: /^MII[\w+/]+=*$/ },
  // docs/migrating.md
  "farebox import one-api --from /data/one-api.db --dry-run": { says: /Nothing was written\.$/m },
  "farebox import csv customers.csv --dry-run": {
    says: /^Would create 1 accounts? .*credited \$25, issued 2 keys.*Nothing was written\.$/m,
  },
  // docs/money.md
  "farebox key budget acct_… key_… --span day --usd 5": { says: BUDGET },
  'curl -H "Authorization: Bearer $KEY" http://127.0.0.1:8080/v1/me': {
    says: /"spendable_budget":/,
  },
  // docs/operating.md
  "farebox report margin --month 2026-11 --by route": {
    says: /^service +model +route .*\ntotal/ms,
  },
  "farebox report margin --month 2026-11 --by day --csv > margin.csv": {
    says: /^.*"calls","charged_usd","free_usd","known_calls","known_charged_usd","upstream_usd"/,
    file: ["margin.csv", /"margin_percent","unknown_charged_usd"/],
  },
  // docs/overspend.md
  "farebox drill --url http://127.0.0.1:8080 --dry-run": {
    says: /at most \$0\.5, and touches no other\.\n1\. .*\n2\. .*\n3\. .*\n4\. .*\n5\. /,
  },
  // docs/payments.md
  "farebox topup link acct_… --usd 20": { says: /is paid here.*\nhttp:\/\/\S+\/pay\// },
  // docs/people.md
  "farebox operator invite ada@example.com": { says: LINK },
  "farebox operator remove ada@example.com": { says: /is no operator any longer\.$/m },
  "farebox person link ada@example.com": { says: LINK },
  "farebox account domain acct_… example.com": {
    says: /footer of its mail names example\.com\.$/m,
  },
  // docs/prices.md
  "farebox prices check farebox.config.json": { code: 1, says: /\bopus\b/ },
  "farebox prices check --file litellm.json,model-prices.json --new": { code: 1, says: /gpt-6/ },
  "farebox prices import farebox.config.json --models mini,haiku --dry-run": { says: /\bmini\b/ },
  'farebox prices import --models all --yes opus --note "Prices of December"': {
    says: /\bopus\b/,
  },
  "farebox prices import --add openai/gpt-4.1": { says: /gpt-4\.1/ },
  "farebox reconcile claude --month 2026-11 --file export.csv": { says: /agree/ },
  // docs/receipts.md
  "farebox statement verify statement-2026-11.json --keys keys.json": { says: /valid/i },
  "curl -s http://127.0.0.1:8080/.well-known/jwks.json > keys.json": {
    says: /^$/,
    file: ["keys.json", /"crv":"Ed25519"/],
  },
  "farebox receipt verify receipt.json --keys keys.json": { says: /valid/i },
  "farebox receipt show acct_… req_0351Ki6Po6Ze8c7RSniYDy --json > receipt.json": {
    says: /"jws":/,
    file: ["receipt.json", /"jws":/],
  },
  "farebox statement show acct_… --month 2026-11 --json > statement-2026-11.json": {
    says: /"jws":/,
    file: ["statement-2026-11.json", /"jws":/],
  },
  // docs/runs.md
  "farebox run list acct_…": { says: /^nightly-7 +active +\S+ of \$2\b/m },
  "farebox run show acct_… nightly-7": { says: /^budget +\$2$/m },
  "farebox run change acct_… nightly-7 --usd 5 --resume": { says: /^budget +\$5$/m },
  // docs/search.md
  "farebox index add articles.jsonl": { says: /^Added 1 document of \S+articles\.jsonl\.$/m },
  "farebox index add ./handbook --base-url https://handbook.example.org/": {
    says: /^Added 1 document of \S+handbook\.$/m,
  },
  "farebox index list": { says: /articles\.jsonl +1\n.*handbook +1$/m },
  "farebox index remove articles.jsonl": { says: /^Removed 1 document of \S+articles\.jsonl\.$/m },
  // docs/spending.md
  "farebox quote /v1/chat/completions call.json --url https://api.example.com": {
    says: /^hold +\$.*\nlikely cost +\$[\s\S]*^max_tokens that fits +\d+$/m,
  },
  "farebox quote /v1/search search.json": { says: /^would pass +yes$/m },
  "farebox key budget acct_… key_… --span week --usd 20": {
    says: /^The budget of the week of the key .*: \$20\.$/m,
  },
  "farebox account budget acct_… --span day --usd 50": { says: BUDGET },
  // docs/vouchers.md
  "farebox voucher create summer": {
    says: /^Wrote 200 codes of \$5 to summer\.csv/,
    file: ["summer.csv", /^(?:[^\n]*\n){201}$/],
  },
  "farebox voucher create trial --usd 2 --free-days 30 --uses 100 --out trial.csv": {
    says: /free for 30 days/,
    file: ["trial.csv", /^(?:[^\n]*\n){2}$/],
  },
  "farebox voucher create partners --plan pro --months 3 --count 20 --out partners.csv": {
    says: /^Wrote 20 codes of 3 months of Pro/,
    file: ["partners.csv", /^(?:[^\n]*\n){21}$/],
  },
  "farebox voucher redeem acct_7n42DGM5Tflk9n8mt7Fhc7 k3vq-7zma-2bcd-efgh-ijkl-mnop": {
    says: /\$5/,
  },
  "farebox voucher list": { says: /^summer +200 +\$5 +1 of 200/m },
  "farebox voucher end summer": { says: /^Ended \d+ codes of summer\.$/m },
  // docs/webhooks.md
  "farebox webhook list": { says: /^hook_\w{22} +acct_\w{22} +hooks\.example +enabled +0 +2$/m },
  "farebox webhook deliveries hook_… --status failed": {
    says: /^(?:\d+ +20\S+Z +payment\.succeeded +evt_\w+ +failed +503 .*\n){2}$/,
  },
  "farebox webhook replay hook_… --delivery 41": { says: /^Delivery \d+ is sent again\.$/m },
  // Until the 21st of a month the day of the page is still to come.
  "farebox webhook replay hook_… --since 2026-11-21": {
    says: /^(?:1 event is|Nothing is) sent again/,
  },
};

/** The promise of a command of a page, and the beginning that it is found by. */
export function promiseOf(
  command: string,
): { readonly start: string; readonly promised: Promised } | null {
  const found = Object.entries(PROMISES).filter(([start]) => command.startsWith(start));
  const [longest] = found.sort(([one], [other]) => other.length - one.length);
  return longest === undefined ? null : { start: longest[0], promised: longest[1] };
}
