// The columns of FOCUS 1.3 that we fill, in the order of the specification.

import { SERVICES, serviceOfScope, serviceTitle } from "../../core/access/services.ts";
import { DAY_MS } from "../../core/durations.ts";
import { type NanoUsd, type PicoUsd, pricePerUnit, toDecimal } from "../../core/money/money.ts";
import { addMonths, startOfMonth } from "../../core/money/months.ts";
import type { CsvCell } from "../../core/text/csv.ts";
import type { KeyName } from "../../store/accounts/key-names.ts";
import type { DayCharge } from "../../store/usage/day-charges.ts";
import type { AccountSource } from "../reading.ts";

/** The values of a row that differ between usage and credits. */
export interface Charge {
  readonly day: Date;
  readonly of: Pick<DayCharge, "key" | "service" | "model">;
  readonly category: "Usage" | "Credit";
  readonly description: string;
  /** The amount that the balances paid. */
  readonly billed: bigint;
  /** Null for a credit. */
  readonly sku: Sku | null;
}

interface Sku {
  readonly meter: string;
  /** Null for a charge without tokens. */
  readonly tokenType: string | null;
  readonly unit: string;
  readonly quantity: number;
  readonly price: PicoUsd;
}

/** The values from which the cells of a row are written. */
export interface FocusRow extends Charge {
  readonly month: string;
  readonly provider: string;
  readonly account: AccountSource["account"];
  readonly key: KeyName | undefined;
}

type Cell = (row: FocusRow) => CsvCell;

const decimal = (text: string): CsvCell => ({ decimal: text });
const billed: Cell = ({ billed: amount }) => decimal(toDecimal(amount as NanoUsd));
const quantity: Cell = ({ sku }) => (sku === null ? null : decimal(String(sku.quantity)));
const unit: Cell = ({ sku }) => sku?.unit ?? null;
const unitPrice: Cell = ({ sku }) => (sku === null ? null : decimal(pricePerUnit(sku.price)));
const provider: Cell = ({ provider: name }) => name;

/** The cost by the price list, before the cost of each call is rounded up to a nano-dollar. */
const listCost: Cell = (row) => {
  if (row.sku === null) return billed(row);
  return decimal(pricePerUnit((BigInt(row.sku.quantity) * row.sku.price) as PicoUsd));
};

/** The columns in the order of the specification; those that need a feature we lack are absent. */
export const FOCUS_COLUMNS: Readonly<Record<string, Cell>> = {
  BilledCost: billed,
  BillingAccountId: ({ account }) => account.id,
  BillingAccountName: ({ account }) => account.name ?? account.email ?? account.id,
  BillingAccountType: ({ account }) => SURFACES[account.surface],
  BillingCurrency: () => "USD",
  BillingPeriodEnd: ({ month }) => secondText(startOfMonth(addMonths(month, 1))),
  BillingPeriodStart: ({ month }) => secondText(startOfMonth(month)),
  ChargeCategory: ({ category }) => category,
  // Only corrections of earlier months have one; a late charge belongs to its own month.
  ChargeClass: () => null,
  ChargeDescription: ({ description }) => description,
  ChargeFrequency: () => "Usage-Based",
  ChargePeriodEnd: ({ day }) => secondText(new Date(day.getTime() + DAY_MS)),
  ChargePeriodStart: ({ day }) => secondText(day),
  ConsumedQuantity: quantity,
  ConsumedUnit: unit,
  ContractedCost: listCost,
  ContractedUnitPrice: unitPrice,
  EffectiveCost: billed,
  HostProviderName: provider,
  InvoiceIssuerName: provider,
  ListCost: listCost,
  ListUnitPrice: unitPrice,
  PricingCategory: ({ sku }) => (sku === null ? null : "Standard"),
  PricingQuantity: quantity,
  PricingUnit: unit,
  // Replaced in 1.3 by ServiceProviderName and HostProviderName, and still mandatory.
  ProviderName: provider,
  PublisherName: provider,
  ServiceCategory: ({ of }) => categoryOf(of.service)[0],
  ServiceName: ({ of }) => serviceTitle(serviceOfScope(of.service)),
  ServiceProviderName: provider,
  ServiceSubcategory: ({ of }) => categoryOf(of.service)[1],
  SkuId: (row) => skuId(row),
  SkuMeter: ({ sku }) => sku?.meter ?? null,
  SkuPriceDetails: priceDetails,
  SkuPriceId: (row) => (row.sku === null ? null : `${skuId(row)}@${pricePerUnit(row.sku.price)}`),
  SubAccountId: ({ key }) => key?.id ?? null,
  SubAccountName: ({ key }) => key?.name ?? null,
  SubAccountType: ({ key }) => (key === undefined ? null : "API key"),
  Tags: ({ key }) => tagsText(key?.tags ?? []),
};

export const FOCUS_HEADINGS: readonly string[] = Object.keys(FOCUS_COLUMNS);

const SURFACES = { gateway: "Gateway", application: "Application" } as const;

/** The category of charges without a service. */
const OTHER_CATEGORY = ["Other", "Other (Other)"] as const;

function categoryOf(scope: string): readonly [string, string] {
  const service = serviceOfScope(scope);
  return Object.entries(SERVICES).find(([name]) => name === service)?.[1].focus ?? OTHER_CATEGORY;
}

function secondText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

function skuId({ of, sku }: Pick<Charge, "of" | "sku">): string | null {
  if (sku === null) return null;
  return [serviceOfScope(of.service), of.model, sku.meter].filter((part) => part !== "").join("/");
}

/** The keys are those of FOCUS 1.5, which defines them first. */
function priceDetails({ of, sku }: FocusRow): string | null {
  if (sku?.tokenType == null) return null;
  return JSON.stringify({ ModelId: of.model, TokenType: sku.tokenType });
}

/** A tag of ours has no value, for which the specification writes true. */
function tagsText(tags: readonly string[]): string | null {
  return tags.length === 0
    ? null
    : JSON.stringify(Object.fromEntries(tags.map((tag) => [tag, true])));
}
