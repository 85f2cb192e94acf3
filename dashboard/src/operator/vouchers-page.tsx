// Vouchers: the batches, a new one, and the end of one. This page makes the codes, and saves them
// as a file before the server makes them valid: it stores only their digests (D-915).

import { Button, Checkbox, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { TIERS } from "../../../src/core/access/limits.ts";
import {
  CODES_MAX,
  newVoucherCode,
  VOUCHER_COLUMNS,
  voucherLink,
} from "../../../src/core/access/voucher-codes.ts";
import {
  GIVEN_MONTHS_MAX,
  PRICED_PLANS,
  type PricedPlan,
  planTitle,
} from "../../../src/core/money/plan-terms.ts";
import { capitalised } from "../../../src/core/text/capital.ts";
import type { VouchersReply } from "../../../src/readings/offers/vouchers.ts";
import { csvOf, download } from "../csv.ts";
import { countText } from "../numbers.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { TextField, type Typed, useTyped } from "../parts/text-field.tsx";
import { useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import { dayTime } from "../time.ts";
import { ActButton, ActDialog } from "./act-dialog.tsx";
import { vouchersQuery } from "./operator-queries.ts";
import { Paged } from "./paged.tsx";

type Batch = VouchersReply["batches"][number];

const words = ot.vouchers;
const TIER_NAMES = TIERS.map(({ name }) => name);
const CREDIT = "credit";
const WHOLE = /^[1-9]\d{0,6}$/;

const COLUMNS: readonly Column<Batch>[] = columnsOf(
  ot.columns,
  {
    batch: "batch",
    since: "created_at",
    each: ({ amount_usd: usd, plan, months }) =>
      plan === null || months === null ? (
        <Money usd={usd ?? "0"} />
      ) : (
        words.monthsOf(countText(months), planTitle(plan))
      ),
    redeemed: ({ used, uses_max: most, codes }) =>
      words.redeemed(countText(used), countText(most), countText(codes)),
    rules: ({ free_days: days, once_per_person: once, tiers }) =>
      t.list([
        ...(days === null ? [] : [words.free(countText(days))]),
        ...(once ? [words.oncePerPerson] : []),
        ...(tiers === null ? [] : [words.tiers(t.list(tiers.map(capitalised)))]),
      ]),
    ends: ({ ended_at: ended, ends_at: end }) => {
      if (ended !== null) return words.ended(dayTime(ended));
      return end === null ? words.never : dayTime(end);
    },
  },
  {
    show: ({ batch, ended_at: ended }) =>
      ended === null && (
        <ActButton name="endVouchers" path="vouchers/end" body={{ batch }} small of={batch} />
      ),
  },
);

export function VouchersPage() {
  const [fields, change] = useFields();
  const query = useQuery({
    ...vouchersQuery({ before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.vouchers} about={words.about}>
        <Button onClick={() => change({ new: "batch" })}>{ot.acts.makeVouchers.open}</Button>
      </PageHead>
      <Panel>
        <Paged query={query}>
          {({ batches }) => (
            <Table
              rows={batches}
              keyOf={({ batch }) => batch}
              columns={COLUMNS}
              label={ot.nav.pages.vouchers}
              none={words.none}
            />
          )}
        </Paged>
      </Panel>
      {fields.new === "batch" && <NewBatch close={() => change({ new: undefined })} />}
    </>
  );
}

function NewBatch({ close }: { readonly close: () => void }) {
  const batch = useTyped("batch");
  const count = useTyped("count", "1");
  const uses = useTyped("count", "1");
  const gift = useGift();
  const { plan, isPersonal } = gift;
  const [lastDay, setLastDay] = useState("");
  const [tiers, setTiers] = useState<string[]>([]);
  const [isOnce, setOnce] = useState(true);
  // A second click sends the codes of the first, so that the saved file is the right one.
  const [made, keep] = useState<readonly string[]>([]);
  const wanted = WHOLE.test(count.text) && Number(count.text) <= CODES_MAX ? Number(count.text) : 0;
  const codes = made.length === wanted ? made : codesOf(wanted);
  const save = ({ amount_usd: usd }: Readonly<Record<string, unknown>>) => {
    keep(codes);
    const rows = codes.map((code) => [
      code,
      plan === null ? String(usd) : "",
      uses.text,
      voucherLink(window.location.origin, code),
      ...gift.cells,
    ]);
    download(`${batch.text}.csv`, csvOf([VOUCHER_COLUMNS, ...rows]));
  };
  return (
    <ActDialog
      name="makeVouchers"
      path="vouchers"
      {...(plan === null && ({ amount: "needed" } as const))}
      calm
      body={{
        batch: batch.text,
        codes,
        ...gift.order,
        uses: Number(uses.text),
        tiers: plan !== null || tiers.length === 0 ? null : tiers,
        once_per_person: isOnce || isPersonal,
        ends_at: lastDay === "" ? null : dayAfter(lastDay),
      }}
      before={save}
      disabled={batch.value === null || wanted === 0 || !WHOLE.test(uses.text) || !gift.isWhole}
      close={close}
    >
      <TextField field={batch} isFirst label={words.batch} autoComplete="off" />
      <GiftFields {...gift} />
      <TextField field={count} label={words.codes} inputMode="numeric" autoComplete="off" />
      <TextField field={uses} label={words.uses} inputMode="numeric" autoComplete="off" />
      <TextInput
        type="date"
        label={words.ends}
        description={words.endsAbout}
        value={lastDay}
        onChange={({ currentTarget }) => setLastDay(currentTarget.value)}
      />
      {plan === null && <Tiers value={tiers} change={setTiers} />}
      <Checkbox
        label={words.once}
        checked={isOnce || isPersonal}
        disabled={isPersonal}
        onChange={({ currentTarget }) => setOnce(currentTarget.checked)}
      />
      <p className="small dim">{words.file}</p>
    </ActDialog>
  );
}

interface Gift {
  /** Null for credit. */
  readonly plan: PricedPlan | null;
  readonly choose: (plan: PricedPlan | null) => void;
  readonly freeDays: Typed;
  readonly months: Typed;
  /** True if each person gets it once. */
  readonly isPersonal: boolean;
  /** True if the numbers are whole ones. */
  readonly isWhole: boolean;
  /** The fields of the order. */
  readonly order: object;
  /** The last cells of each line of the file. */
  readonly cells: readonly string[];
}

function useGift(): Gift {
  const [plan, choose] = useState<PricedPlan | null>(null);
  const freeDays = useTyped("count");
  const months = useTyped("count", "1");
  const fields = { plan, choose, freeDays, months };
  if (plan !== null) {
    return {
      ...fields,
      isPersonal: true,
      isWhole: WHOLE.test(months.text) && Number(months.text) <= GIVEN_MONTHS_MAX,
      order: { plan, months: Number(months.text) },
      cells: ["", plan, months.text],
    };
  }
  const isFree = freeDays.text !== "";
  return {
    ...fields,
    isPersonal: isFree,
    isWhole: !isFree || WHOLE.test(freeDays.text),
    order: { free_days: isFree ? Number(freeDays.text) : null },
    cells: [freeDays.text, "", ""],
  };
}

function GiftFields({ plan, choose, freeDays, months }: Gift) {
  return (
    <>
      <Select
        label={words.gives}
        data={[
          { value: CREDIT, label: words.credit },
          ...PRICED_PLANS.map((one) => ({ value: one, label: words.plan(planTitle(one)) })),
        ]}
        value={plan ?? CREDIT}
        onChange={(chosen) => choose(PRICED_PLANS.find((one) => one === chosen) ?? null)}
        allowDeselect={false}
      />
      {plan === null ? (
        <TextField
          field={freeDays}
          label={words.freeDays}
          about={words.freeDaysAbout}
          inputMode="numeric"
          autoComplete="off"
        />
      ) : (
        <TextField field={months} label={words.months} inputMode="numeric" autoComplete="off" />
      )}
    </>
  );
}

interface TiersProps {
  readonly value: string[];
  readonly change: (names: string[]) => void;
}

function Tiers({ value, change }: TiersProps) {
  return (
    <Checkbox.Group
      label={words.tiersLabel}
      description={words.tiersAbout}
      value={value}
      onChange={change}
    >
      <div className="choice">
        {TIER_NAMES.map((name) => (
          <Checkbox key={name} value={name} label={capitalised(name)} />
        ))}
      </div>
    </Checkbox.Group>
  );
}

function codesOf(count: number): readonly string[] {
  return Array.from({ length: count }, () =>
    newVoucherCode((bytes) => crypto.getRandomValues(new Uint8Array(bytes))),
  );
}

/** The first moment after a day, in UTC; a day that is none is sent as it is, and refused. */
function dayAfter(day: string): string {
  const end = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(end.getTime())) return day;
  end.setUTCDate(end.getUTCDate() + 1);
  return end.toISOString();
}
