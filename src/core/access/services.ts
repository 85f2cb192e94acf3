// Defines each service in one row. Everything else about services follows from this table: scopes,
// tiers, pause targets, error codes, names in the log, sections of the configuration file,
// endpoints.

/** Each surface has accounts and keys of its own (SPEC 1). */
export type Surface = "gateway" | "application";

/** The tiers of Gateway accounts (SPEC 3.4), the lowest first. */
export type TierName = "free" | "starter" | "build" | "scale" | "pro" | "enterprise";

interface ServiceRow {
  /** The heading in the documentation. */
  readonly title: string;
  readonly about: string;
  /** The scope that a key needs (SPEC 5.3). The request log stores it (D-616). */
  readonly scope: string;
  /** The error code while the service is paused. */
  readonly unavailable: `${string}_unavailable`;
  readonly surfaces: readonly Surface[];
  /** SPEC 8.2. */
  readonly tiers: readonly TierName[];
  /** True if spans of the service follow the conventions for generative AI. */
  readonly isGenerative: boolean;
  /** True if the playground has a form for it. */
  readonly hasForm: boolean;
  /** True if the receipt of a call has price lines. */
  readonly hasPriceLines: boolean;
  /**
   * The category and subcategory of the service in FOCUS exports, by the lists of that
   * specification.
   */
  readonly focus: readonly [string, string];
}

/** By name. The name is also the target that pauses the service. */
export const SERVICES = {
  chat: {
    title: "Chat",
    about: "Many models by one API, plain or streamed, in the forms of OpenAI and Anthropic.",
    scope: "models",
    unavailable: "model_unavailable",
    surfaces: ["gateway", "application"],
    tiers: ["free", "starter", "build", "scale", "pro", "enterprise"],
    isGenerative: true,
    hasForm: true,
    hasPriceLines: true,
    focus: ["AI and Machine Learning", "Generative AI"],
  },
  search: {
    title: "Search",
    about: "Web search, single and in batches, paid by the result.",
    scope: "search",
    unavailable: "search_unavailable",
    surfaces: ["gateway"],
    tiers: ["starter", "build", "scale", "pro", "enterprise"],
    isGenerative: false,
    hasForm: true,
    hasPriceLines: true,
    focus: ["Web", "Other (Web)"],
  },
  maps: {
    title: "Maps",
    about: "Places, routes, traffic, weather and maps.",
    scope: "maps",
    unavailable: "maps_unavailable",
    surfaces: ["gateway"],
    tiers: ["starter", "build", "scale", "pro", "enterprise"],
    isGenerative: false,
    hasForm: true,
    hasPriceLines: true,
    focus: ["Developer Tools", "Other (Developer Tools)"],
  },
  mail: {
    title: "Mail",
    about: "Transactional mail, sealed until it is delivered, with bounces reported.",
    scope: "mail",
    unavailable: "mail_unavailable",
    surfaces: ["gateway"],
    tiers: ["build", "scale", "pro", "enterprise"],
    isGenerative: false,
    hasForm: true,
    hasPriceLines: true,
    focus: ["Business Applications", "Productivity and Collaboration"],
  },
} as const satisfies Record<string, ServiceRow>;

type Services = typeof SERVICES;
export type ServiceName = keyof Services;
/** The services whose rows have `true` at a field. */
export type ServicesWith<Field extends "hasForm" | "hasPriceLines"> = {
  [Name in ServiceName]: Services[Name][Field] extends true ? Name : never;
}[ServiceName];
/** The scope that opens a service (SPEC 5.3). */
export type Scope = Services[ServiceName]["scope"];
/** Each code must be a row of the error table. */
export type UnavailableCode = Services[ServiceName]["unavailable"];
/** An operator can pause a whole service, or one model. */
export type PauseTarget = ServiceName | `model:${string}`;

export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[];

const ROWS: readonly (ServiceRow & { readonly scope: Scope })[] = Object.values(SERVICES);

/** Every scope, in the order of the table. */
export const SCOPES: readonly Scope[] = ROWS.map(({ scope }) => scope);

const GENERATIVE: ReadonlySet<string> = new Set(
  ROWS.filter((row) => row.isGenerative).map(({ scope }) => scope),
);

/** True if the service of this scope answers by a generative model. */
export function isGenerative(scope: string): boolean {
  return GENERATIVE.has(scope);
}

/**
 * The name of the service that a scope opens; other words, such as `account`, stay unchanged. The
 * request log and its sums store the scope, and readers show the name (D-616).
 */
export function serviceOfScope(scope: string): string {
  return SERVICE_NAMES.find((name) => SERVICES[name].scope === scope) ?? scope;
}

/** The reverse of `serviceOfScope`. */
export function scopeOfService(service: string): string {
  return SERVICE_NAMES.includes(service as ServiceName)
    ? SERVICES[service as ServiceName].scope
    : service;
}

const TITLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, SERVICES[name].title])),
  account: "Account",
  unknown: "Unknown",
};

/** The title of a service, for people. */
export function serviceTitle(service: string): string {
  return TITLES[service] ?? service;
}

/** The scopes that a key of this surface can have. */
export function scopesOfSurface(surface: Surface): readonly Scope[] {
  return ROWS.filter(({ surfaces }) => surfaces.includes(surface)).map(({ scope }) => scope);
}

/** The services of a tier, by their scopes. */
export function scopesOfTier(tier: TierName): readonly Scope[] {
  return ROWS.filter(({ tiers }) => tiers.includes(tier)).map(({ scope }) => scope);
}
