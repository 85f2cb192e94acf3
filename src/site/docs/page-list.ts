// Lists the pages of the documentation that `/docs` shows, by who reads them and in the order of
// their navigation (D-765).

/** The groups of readers; those of a brand that shows less come first. */
export const READERS = ["customers", "operators", "developers"] as const;

export type Readers = (typeof READERS)[number];

export interface PageEntry {
  /** The address of the page below /docs. */
  readonly slug: string;
  /** The path of its Markdown in the project. */
  readonly file: string;
  readonly readers: Readers;
  /**
   * False for a page that the navigation leaves out: readers reach it from other pages, and
   * language models find it in their list if it is for customers.
   */
  readonly isListed: boolean;
}

export const DOCS = "/docs";
const FOLDER = "docs/";
const DECISIONS = "docs/decisions/";
/** One page for each client, which people find by its name (D-765). */
const CLIENTS = "docs/clients/";

const LISTED: Readonly<Record<Readers, readonly string[]>> = {
  customers: [
    "docs/first-call.md",
    "docs/clients.md",
    "docs/endpoints.md",
    "docs/errors.md",
    "docs/application.md",
    "docs/search.md",
    "docs/maps.md",
    "docs/mail.md",
    "docs/mcp.md",
    "docs/spending.md",
    "docs/receipts.md",
    "docs/focus.md",
    "docs/idempotency.md",
    "docs/runs.md",
    "docs/end-users.md",
    "docs/burn-rates.md",
    "docs/webhooks.md",
    "docs/keys.md",
    "docs/faq.md",
  ],
  operators: [
    "docs/first-hour.md",
    "docs/production.md",
    "docs/configuration.md",
    "docs/providers.md",
    "docs/prices.md",
    "docs/brand.md",
    "docs/people.md",
    "docs/operators.md",
    "docs/payments.md",
    "docs/vouchers.md",
    "docs/money.md",
    "docs/migrating.md",
    "docs/operating.md",
    "docs/metrics.md",
    "docs/runbook.md",
    "docs/backup.md",
    "docs/upgrading.md",
    "docs/scaling.md",
    "docs/security.md",
    "SECURITY.md",
    "CHANGELOG.md",
  ],
  developers: [
    "docs/first-change.md",
    "docs/ARCHITECTURE.md",
    "docs/glossary.md",
    "docs/journal.md",
    "docs/performance.md",
    "docs/overspend.md",
    "CONTRIBUTING.md",
    "docs/decisions/README.md",
  ],
};

/** Pages whose own name says too little, or is that of another page. */
const SLUGS: Readonly<Record<string, string>> = {
  "SECURITY.md": "reporting",
  "docs/decisions/README.md": "decisions",
};

/** Files that this server has under an address of its own. */
export const SERVED: ReadonlyMap<string, string> = new Map([
  ["docs/README.md", DOCS],
  ["docs/openapi.json", "/openapi.json"],
  ["docs/openapi-application.json", "/api/v1/openapi.json"],
  ["docs/openapi-console.json", "/console/api/openapi.json"],
]);

/**
 * All pages of the project, given the names of the files in docs/ and two folders below it. A page
 * that the list does not have is for operators, so that no stranger reads it by mistake.
 */
export function pageEntries(found: {
  readonly docs: readonly string[];
  readonly clients: readonly string[];
  readonly decisions: readonly string[];
}): readonly PageEntry[] {
  const listed = READERS.flatMap((readers) =>
    LISTED[readers].map((file) => entryOf(file, { readers, isListed: true })),
  );
  const known = new Set([...SERVED.keys(), ...listed.map(({ file }) => file)]);
  const unknown = (names: readonly string[], folder: string) =>
    names
      .map((name) => `${folder}${name}`)
      .filter((file) => /\.md$/.test(file) && !known.has(file));
  return [
    ...listed,
    ...unknown(found.clients, CLIENTS).map((file) =>
      entryOf(file, { readers: "customers", isListed: false }),
    ),
    ...unknown(found.docs, FOLDER).map((file) =>
      entryOf(file, { readers: "operators", isListed: true }),
    ),
    ...unknown(found.decisions, DECISIONS).map((file) =>
      entryOf(file, { readers: "developers", isListed: false }),
    ),
  ];
}

function entryOf(file: string, more: Pick<PageEntry, "readers" | "isListed">): PageEntry {
  const name = file.startsWith(FOLDER) ? file.slice(FOLDER.length) : file;
  const slug = name.replace(/\.md$/, "").replace(/^clients\//, "use-with-");
  return { slug: SLUGS[file] ?? slug.toLowerCase(), file, ...more };
}
