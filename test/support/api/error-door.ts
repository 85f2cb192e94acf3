// An endpoint, as a test that provokes its refusals sees it: a request that is served as it stands,
// and accounts that can pay for it.

import { SCOPES } from "../../../src/core/access/services.ts";
import { exampleTarget } from "../../../src/http/docs/docs-page.ts";
import type { DocumentedEndpoint } from "../../../src/http/endpoint-errors.ts";
import { GUIDE_MODEL } from "../../../src/services/chat/models/catalogue.ts";
import { shared } from "../shared.ts";
import type { AccountTerms, TestAccount } from "../stores/accounts.ts";
import type { MailWorld } from "../stores/mail-world.ts";
import { ApiWorld } from "./api-world.ts";
import { EXAMPLE_CATALOGUE } from "./example-models.ts";
import { MODEL } from "./models.ts";
import { sharedMail } from "./shared-api.ts";

const RICH: Readonly<Record<"gateway" | "application", AccountTerms>> = {
  gateway: { contract: "enterprise", paid: "100", scopes: SCOPES },
  application: { surface: "application", plan: "max", paid: "9" },
};

interface Changes {
  /** Fields besides those of the example. */
  readonly fields?: object;
  /** The text of a body, in place of the example's. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The values of the open parts of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly signal?: AbortSignal;
  readonly method?: string;
  /** After the path. */
  readonly below?: string;
  /** Another API than that of the world. */
  readonly to?: ApiWorld;
}

/** The API that is asked, and two that cannot answer. */
export interface ErrorWorlds {
  readonly mail: MailWorld;
  /** An API whose keys cannot be looked up. */
  readonly keyless: ApiWorld;
  /** An API in which each request fails by a mistake of ours. */
  readonly broken: ApiWorld;
}

/** Worlds that all tests of a file share. */
export async function sharedErrorWorlds(): Promise<ErrorWorlds> {
  const mail = await sharedMail({ catalogue: () => EXAMPLE_CATALOGUE });
  const find = () => Promise.reject(new Error("No store answers"));
  const keys = { known: () => undefined, find, forget: () => {} };
  const known = () => {
    throw new Error("A mistake of ours");
  };
  const keyless = await shared(ApiWorld.start({ keys }));
  const broken = await shared(ApiWorld.start({ keys: { ...keys, known } }));
  return { mail, keyless, broken };
}

export class ErrorDoor {
  constructor(
    readonly worlds: ErrorWorlds,
    readonly endpoint: DocumentedEndpoint,
  ) {}

  get api(): ApiWorld {
    return this.worlds.mail.api;
  }

  get surface(): "gateway" | "application" {
    const { surface } = this.endpoint;
    if (surface === null) throw new Error(`${this.endpoint.path} has no errors of a surface`);
    return surface;
  }

  /** The path of chat completions on the same surface. */
  get chatPath(): string {
    return this.surface === "application" ? "/api/v1/chat/completions" : "/v1/chat/completions";
  }

  /** An account that may call the endpoint and can pay, but for these terms. */
  open(terms: AccountTerms = {}, api = this.api): Promise<TestAccount> {
    return api.account({ ...RICH[this.surface], ...terms });
  }

  /** The text of the body that is sent, with these fields besides. */
  text(fields: object = {}): string {
    return JSON.stringify(bodyOf(this.endpoint.examples[0]?.body, fields));
  }

  /** Sends the endpoint's first example, with these changes. */
  async send(caller: Pick<TestAccount, "key"> | null, changes: Changes = {}): Promise<Response> {
    const { endpoint } = this;
    const [example] = endpoint.examples;
    if (example === undefined) throw new Error(`${endpoint.path} has no example`);
    const { text, headers, params, query, signal } = changes;
    const { method = endpoint.method, below = "", to = this.api } = changes;
    const target = exampleTarget(endpoint, {
      ...example,
      ...(params !== undefined && { params }),
      ...(query !== undefined && { query }),
    });
    const path = target.replace(/(?=\?)|$/, below);
    const hasBody = example.body !== undefined && method === endpoint.method;
    const all = new Headers({ "content-type": "application/json", ...example.headers });
    if (caller !== null) all.set("authorization", `Bearer ${caller.key}`);
    for (const [name, value] of Object.entries(headers ?? {})) all.set(name, value);
    return await to.request(method, path, {
      headers: all,
      ...(hasBody && { body: text ?? this.text(changes.fields) }),
      ...(signal !== undefined && { signal }),
    });
  }
}

/** Calls of an endpoint that are not made but quoted. */
export class QuoteDoor extends ErrorDoor {
  constructor(
    worlds: ErrorWorlds,
    quoted: DocumentedEndpoint,
    readonly quote: DocumentedEndpoint,
  ) {
    super(worlds, quoted);
  }

  override async send(
    caller: Pick<TestAccount, "key"> | null,
    { text, fields, query }: Changes = {},
  ): Promise<Response> {
    const { path, method, examples } = this.endpoint;
    const parameters = new URLSearchParams(query ?? examples[0]?.query);
    const body: unknown =
      method === "GET" ? Object.fromEntries(parameters) : JSON.parse(text ?? this.text(fields));
    const account = caller ?? (await this.open());
    return await this.api.postTo(this.quote.path, account, { path, body });
  }
}

/** The body of an example, which asks a model of a known price. */
function bodyOf(body: unknown, fields: object): unknown {
  if (Array.isArray(body)) return body;
  const asked = { ...(body as { readonly model?: string }), ...fields };
  return asked.model === GUIDE_MODEL ? { ...asked, model: MODEL.id } : asked;
}
