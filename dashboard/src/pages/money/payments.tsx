// Payments with their refunds and disputes as rows, and top-ups that are open or came to nothing.

import type { BillingReply } from "../../../../src/readings/billing.ts";
import { isZero, moneyText } from "../../money.ts";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel, Tag, type Tone } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { t } from "../../texts.ts";
import { dayTime } from "../../time.ts";
import { Documents, type DocumentsProps } from "./documents.tsx";
import { failureWords } from "./failure-words.ts";

/** The server lists the newest so many payments, and top-ups. */
const LISTED_MAX = 100;

interface PaymentRow {
  readonly id: string;
  /** The time by which rows are sorted: refunds and disputes stand beside their payment. */
  readonly at: string;
  /** False where the change happened later; the ledger has the time. */
  readonly isThen: boolean;
  readonly what: string;
  readonly detail: string | null;
  readonly tone: Tone;
  readonly state: string;
  /** The amount with its sign; null where nothing was moved. */
  readonly usd: string | null;
  readonly link: { readonly url: string; readonly text: string } | null;
  /** The account and the id of a payment that may have an invoice; null for any other row. */
  readonly invoice: DocumentsProps | null;
}

interface PaymentsProps {
  readonly account: string;
  readonly billing: BillingReply;
}

export function Payments({ account, billing }: PaymentsProps) {
  const rows = rowsOf(account, billing);
  const isCut = [billing.payments, billing.top_ups].some(({ length }) => length >= LISTED_MAX);
  return (
    <Panel title={t.billing.payments} aside={t.billing.paymentsAbout}>
      {isCut && <p className="small dim">{t.billing.paymentsCut(LISTED_MAX)}</p>}
      {rows.length === 0 ? (
        <Empty title={t.billing.noPayments}>
          <p className="small dim">{t.billing.noPaymentsAbout}</p>
        </Empty>
      ) : (
        <Table columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<PaymentRow>[] = columnsOf(t.billing.columns, {
  at: ({ isThen, at }) => <span className="nowrap tabular">{isThen && dayTime(at)}</span>,
  what: ({ what, detail }) => (
    <>
      {what}
      {detail !== null && <div className="tiny dim">{detail}</div>}
    </>
  ),
  state: ({ tone, state }) => <Tag tone={tone}>{state}</Tag>,
  receipt: ({ link, invoice }) => (
    <>
      {link === null ? (
        <span className="dim">–</span>
      ) : (
        <a href={link.url} target="_blank" rel="noreferrer">
          {link.text}
        </a>
      )}
      {invoice !== null && <Documents {...invoice} />}
    </>
  ),
  amount: { number: ({ usd }) => (usd === null ? "–" : <Money usd={usd} signed />) },
});

function rowsOf(account: string, billing: BillingReply): PaymentRow[] {
  const { payments, top_ups: topUps } = billing;
  // A top-up that succeeded is a payment, which is listed as such.
  const others = topUps.filter(({ status }) => status !== "succeeded").map(topUpRow);
  const paid = payments.flatMap((one) => paymentRows(account, one));
  return [...others, ...paid].sort((a, b) => b.at.localeCompare(a.at));
}

function topUpRow(one: BillingReply["top_ups"][number]): PaymentRow {
  const { id, created_at: at, kind, status, failure, url, amount_usd: usd } = one;
  const why = failure === null ? "" : failureWords(failure);
  const detail = [isZero(usd) ? "" : moneyText(usd), why].filter((text) => text !== "").join(" · ");
  return {
    id,
    at,
    isThen: true,
    what: t.billing.kinds[kind],
    detail: detail === "" ? null : detail,
    tone: status === "open" ? "held" : "owed",
    state: t.billing.states[status],
    usd: null,
    link: status === "open" && url !== null ? { url, text: t.billing.goOn } : null,
    invoice: null,
  };
}

/** The amounts that were paid besides the credit. */
function onTopOf({ fee_usd: fee, tax_usd: tax }: BillingReply["payments"][number]): string[] {
  return [
    ...(isZero(fee) ? [] : [t.billing.plusFee(moneyText(fee))]),
    ...(isZero(tax) ? [] : [t.billing.plusPaidTax(moneyText(tax))]),
  ];
}

function paymentRows(account: string, one: BillingReply["payments"][number]): PaymentRow[] {
  const { id, paid_at: at, bonus_usd: bonus, receipt_url: receipt } = one;
  const common = { at, isThen: false, link: null, invoice: null, detail: id };
  const rows: PaymentRow[] = [
    {
      ...common,
      id,
      isThen: true,
      what: one.kind === null ? t.billing.payment : t.billing.kinds[one.kind],
      detail: [id, ...onTopOf(one)].join(" · "),
      tone: "paid",
      state: t.billing.states.succeeded,
      usd: one.amount_usd,
      link: receipt === null ? null : { url: receipt, text: t.billing.receipt },
      invoice: one.may_have_invoice ? { account, payment: id } : null,
    },
  ];
  if (!isZero(bonus)) {
    const state = t.billing.states.succeeded;
    rows.push({
      ...common,
      id: `${id} bonus`,
      isThen: true,
      what: t.billing.bonus,
      tone: "free",
      state,
      usd: bonus,
    });
  }
  if (!isZero(one.refunded_usd)) {
    rows.push({
      ...common,
      id: `${id} refund`,
      what: t.billing.refund,
      tone: "held",
      state: t.billing.states.refunded,
      usd: `-${one.refunded_usd}`,
    });
  }
  if (one.dispute !== null) {
    rows.push({
      ...common,
      id: `${id} dispute`,
      what: t.billing.dispute,
      tone: one.dispute === "won" ? "paid" : "owed",
      state: t.billing.disputes[one.dispute],
      usd: isZero(one.disputed_usd) ? null : `-${one.disputed_usd}`,
    });
  }
  return rows;
}
