// Serves the console over real HTTP, for people whose cookie names their role: signing in belongs
// to other tests.

import { eq } from "drizzle-orm";
import type { AppDeps, ConsoleServices } from "../../../src/app.ts";
import { openConsole } from "../../../src/console/open-console.ts";
import { ROLES, type Role } from "../../../src/core/access/roles.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import type { ConsoleEndpoint } from "../../../src/http/console/console-endpoint.ts";
import type { People, SignedIn } from "../../../src/http/console/people.ts";
import { fits } from "../../../src/http/unknown-route.ts";
import { CONSOLE, OPERATOR } from "../../../src/routes.ts";
import { configurationChanges } from "../../../src/settings/catalogue-changes.ts";
import { Pauses } from "../../../src/store/operators/pauses.ts";
import { accounts as accountRows } from "../../../src/store/tables/account-schema.ts";
import { UpstreamBoard } from "../../../src/upstream/upstream-board.ts";
import { silent } from "../fakes/silent-log.ts";
import { identityOf } from "../product/identity-of.ts";
import { random } from "../random.ts";
import type { TestAccount } from "../stores/accounts.ts";
import { type ApiStores, ApiWorld, PEPPER } from "./api-world.ts";
import { misfit, mustBeGuarded } from "./contract.ts";

/** The path of a part of an account in the API of the console. */
export function accountPath({ id }: Pick<TestAccount, "id">, rest: string): string {
  return `/accounts/${id}/${rest}`;
}

/** No worker sends the mail of these tests, so each request waits this long for it. */
const MAIL_WAIT_MS = 100;

/** Strangers and operators belong to no account. */
export type Somebody = Role | "stranger" | "operator" | "operator_without_factor";

/** An address that operators are not allowed in from. */
export const FOREIGN_ADDRESS = "203.0.113.9";

export interface Told<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  /** Of a refusal. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/**
 * Signs in with the cookie `session=admin`: the person has that role in every account of `ofUs`.
 */
function peopleOf({ accounts }: ApiStores, ofUs: ReadonlySet<string>): People {
  return {
    async signedIn(headers) {
      const name = /^session=(\w+)$/.exec(headers.get("cookie") ?? "")?.[1];
      return name === undefined ? null : personOf(name);
    },
    async membership(personId, accountId) {
      const role = ROLES.find((one) => one === personId);
      const account = ofUs.has(accountId) ? await accounts.find(accountId) : null;
      return role === undefined || account === null ? null : { account, role };
    },
    hasSession: async () => true,
    async roleIn(tx, personId, number) {
      const [row] = await tx.select().from(accountRows).where(eq(accountRows.number, number));
      const role = ROLES.find((one) => one === personId);
      return role !== undefined && ofUs.has(row?.id ?? "") ? role : null;
    },
    isOperatorIn: async (_, sessionId) => sessionId.startsWith("session_operator"),
  };
}

function personOf(name: string): SignedIn {
  return {
    personId: name,
    email: `${name}@example.com`,
    name,
    isOperator: name.startsWith("operator"),
    hasTwoFactor: name === "operator",
    isStrong: false,
    isBySso: false,
    sessionId: `session_${name}`,
    provedAtMs: 0,
  };
}

/** The test's own parts of the application, made of the stores. */
export type OwnParts = (
  stores: ApiStores,
) => Partial<AppDeps> & { readonly services?: Partial<ConsoleServices> };

/** The paths of people's endpoints and of operators' endpoints. */
type ConsolePath = "/console/api" | "/console/operator";

export class ConsoleWorld implements AsyncDisposable {
  constructor(
    readonly api: ApiWorld,
    /** The accounts that people with a role belong to. */
    readonly ofUs: Set<string>,
    /** Paths of requests are below this one. */
    readonly path: ConsolePath = "/console/api",
  ) {}

  static async start(own: OwnParts = () => ({})): Promise<ConsoleWorld> {
    const ofUs = new Set<string>();
    const api = await ApiWorld.start(
      (stores) => {
        const { services, ...app } = own(stores);
        const people = peopleOf(stores, ofUs);
        return { console: { ...servicesOf(stores), people, ...services }, ...app };
      },
      { mailWaitMs: MAIL_WAIT_MS },
    );
    return new ConsoleWorld(api, ofUs);
  }

  /** Starts the operators' console; the tests choose the address of each request. */
  static async startForOperators(): Promise<ConsoleWorld> {
    return (await ConsoleWorld.start(() => ({ trustedProxies: ["127.0.0.1"] }))).forOperators();
  }

  /** The same console, with requests below the path of operators. */
  forOperators(): ConsoleWorld {
    return new ConsoleWorld(this.api, this.ofUs, "/console/operator");
  }

  /** An account that people with a role belong to. */
  async account(...options: Parameters<ApiWorld["account"]>): Promise<TestAccount> {
    const account = await this.api.account(...options);
    this.ofUs.add(account.id);
    return account;
  }

  async get<Body>(who: Somebody, path: string): Promise<Told<Body>> {
    return await this.#send<Body>("GET", path, { cookie: `session=${who}` });
  }

  async post<Body>(who: Somebody, path: string, body: object = {}): Promise<Told<Body>> {
    const headers = {
      cookie: `session=${who}`,
      "content-type": "application/json",
      origin: this.api.parts.url,
    };
    return await this.#send<Body>("POST", path, headers, JSON.stringify(body));
  }

  /** Sends a request, and checks every success against the schema of its endpoint. */
  async #send<Body>(
    method: string,
    below: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Told<Body>> {
    const path = this.path + below;
    const init = { method, headers, ...(body !== undefined && { body }) };
    const response = await fetch(this.api.parts.url + path, init);
    mustBeGuarded(init.method ?? "GET", path, response);
    const json = (await response.json()) as Body & { readonly error?: Record<string, string> };
    const problem = response.ok ? misfit(endpointOf(method, path).reply, json) : null;
    if (problem !== null) throw new Error(`${method} ${path} answered ${problem}`);
    const { status } = response;
    const { code, message } = json.error ?? {};
    return { status, headers: response.headers, body: json, code, message };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api[Symbol.asyncDispose]();
  }
}

function endpointOf(method: string, path: string): ConsoleEndpoint<never> {
  const plain = path.replace(/\?.*/, "");
  const endpoints: readonly ConsoleEndpoint<never>[] = [...CONSOLE, ...OPERATOR];
  const found = endpoints.find((one) => one.method === method && fits(one, plain));
  if (found === undefined) throw new Error(`The console has no ${method} ${path}`);
  return found;
}

/** The services of the console besides people, on the stores of a test. */
export function servicesOf(stores: ApiStores): Omit<ConsoleServices, "people"> {
  const { database, actors } = stores;
  const shared = { database, actors, now: Date.now, random, log: silent };
  const opened = openConsole({
    ...shared,
    keyPeppers: [PEPPER],
    webhooksAllowPrivate: false,
    payments: null,
    brand: () => DEFAULT_BRAND,
    origin: null,
  });
  const installation = { base_url: "http://127.0.0.1", payments: null, mail_sink: true } as const;
  const identity = identityOf(stores);
  return {
    consoleUrl: null,
    brand: () => DEFAULT_BRAND,
    identity,
    installation,
    ...opened,
    operators: { isAllowedFrom: (ip) => ip !== FOREIGN_ADDRESS, mustUseSso: false },
    switches: new Pauses({ database, log: silent }),
    upstreams: new UpstreamBoard(),
    configuration: {
      running: () => ({ version: 0, refused: null }),
      changes: configurationChanges("its text", {}),
      takeOver: async () => {},
    },
    process: { id: actors.deps.processId, openCalls: () => actors.openCalls },
  };
}
