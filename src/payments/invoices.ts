// Invoices of charges of a saved card (automatic ones, those that a holder asks for, and the months
// of plans), and credit notes of refunds. A worker has the provider issue those that are due, after
// the payment or the refund was booked.

import { DAY_MS, MINUTE_MS } from "../core/durations.ts";
import {
  type DueCreditNote,
  dueCreditNotes,
  setCreditNoteDue,
} from "../store/payments/refund-attempts.ts";
import type { TopUp } from "../store/payments/top-ups.ts";
import { type PaymentDocument, ProviderAway } from "./provider.ts";
import type { PaymentDeps } from "./read-top-up.ts";

type IssueDeps = Pick<PaymentDeps, "provider" | "topUps" | "now" | "log">;

const AT_ONCE = 100;
/** The pause before the next attempt to issue a document, after one has failed. */
const AGAIN_MS = 10 * MINUTE_MS;
/** The time after the payment or the refund at which no further attempt is made. */
const GIVEN_UP_MS = 30 * DAY_MS;

interface DueDocument {
  readonly kind: PaymentDocument["kind"];
  readonly topUpId: string;
  /** The time of the payment or of the refund. */
  readonly since: Date | null;
  readonly issue: () => Promise<void>;
  /** Stores the time at which the document is due again; null if no attempt follows. */
  readonly setDue: (at: Date | null) => Promise<void>;
}

/**
 * Issues the invoices and the credit notes that are due. The failure of one document stops no
 * other. @throws ProviderAway
 */
export async function issueDueDocuments(deps: IssueDeps): Promise<void> {
  const { provider, now } = deps;
  if (!provider.issuesInvoices) return;
  const invoices = await deps.topUps.dueInvoices(provider.name, new Date(now()), AT_ONCE);
  for (const topUp of invoices) await issueOrDelay(deps, dueInvoice(deps, topUp));
  const due = { provider: provider.name, now: new Date(now()), max: AT_ONCE };
  for (const note of await dueCreditNotes(deps.topUps.deps.database, due)) {
    await issueOrDelay(deps, dueNote(deps, note));
  }
}

async function issueOrDelay(
  { now, log }: Pick<IssueDeps, "now" | "log">,
  { kind, topUpId, since, issue, setDue }: DueDocument,
): Promise<void> {
  try {
    await issue();
  } catch (error) {
    // If the provider is away, no other document can be issued either, and all are due again at the
    // next run.
    if (error instanceof ProviderAway) throw error;
    const isOver = now() - (since?.getTime() ?? 0) > GIVEN_UP_MS;
    await setDue(isOver ? null : new Date(now() + AGAIN_MS));
    if (isOver) {
      log.error({ topUpId, kind, err: error }, "A document of a payment is not issued any more");
    } else {
      log.warn({ topUpId, kind, err: error }, "A document of a payment waits; it is tried again");
    }
  }
}

function dueInvoice(deps: IssueDeps, topUp: TopUp): DueDocument {
  return {
    kind: "invoice",
    topUpId: topUp.id,
    since: topUp.endedAt,
    issue: () => issueInvoice(deps, topUp),
    setDue: (at) => deps.topUps.setInvoiceDue(topUp.number, at),
  };
}

function dueNote(deps: IssueDeps, note: DueCreditNote): DueDocument {
  const { ref, topUpId, madeAt } = note;
  return {
    kind: "credit_note",
    topUpId,
    since: madeAt,
    issue: async () => {
      const topUp = await deps.topUps.find({ id: topUpId });
      if (topUp !== null) await issueCreditNote(deps, topUp, note);
    },
    setDue: (at) => setCreditNoteDue(deps.topUps.deps.database, ref, at),
  };
}

/** Issues the invoice of a paid charge, if one is due. @throws as `PaymentProvider.issueInvoice` */
export async function issueInvoice(
  { provider, topUps, now }: Pick<IssueDeps, "provider" | "topUps" | "now">,
  topUp: TopUp,
): Promise<void> {
  if (topUp.invoiceDueAt === null) return;
  await provider.issueInvoice(topUp);
  await topUps.invoiced(topUp.number, new Date(now()));
}

/**
 * Issues the credit note of a refund if the payment has an invoice. If the invoice is still due, it
 * is issued first.
 * @throws as `PaymentProvider.issueInvoice` and `PaymentProvider.issueCreditNote`
 */
export async function issueCreditNote(
  deps: IssueDeps,
  topUp: TopUp,
  { ref, refund }: Pick<DueCreditNote, "ref" | "refund">,
): Promise<void> {
  const { provider, topUps, log } = deps;
  if (topUp.intent === null) return;
  await issueInvoice(deps, topUp);
  const terms = { refund, key: refundKey(topUp, ref) };
  const isIssued = await provider.issueCreditNote(topUp.intent, terms);
  await setCreditNoteDue(topUps.deps.database, ref, null);
  log.info({ ...terms, isIssued }, "The credit note of a refund was looked after");
}

/** The idempotency key of a refund at the provider. */
export function refundKey(
  { id }: Pick<TopUp, "id">,
  { reference }: Pick<DueCreditNote["ref"], "reference">,
): string {
  return `${id}-refund-${reference}`;
}
