// Runs the application in this process, without stores, upstreams or a port, for tests that need
// none of them. Every other dependency throws when it is used.

import { type AppDeps, type ConsoleServices, createApp } from "../../../src/app.ts";
import { createClientInfo } from "../../../src/http/client-info.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { realClock } from "../fakes/fake-clock.ts";
import { silent } from "../fakes/silent-log.ts";
import { random } from "../random.ts";
import { mustBeDocumented } from "./contract.ts";
import { MODEL, PAID_ONLY_MODEL } from "./models.ts";

const SECRET = "test secret of sixteen";

export interface AppAlone {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Sends a request, and checks the reply against its endpoint's documentation. */
  request(method: string, path: string, init?: RequestInit): Promise<Response>;
}

/** The application with these parts. */
export function appAlone(parts: Partial<AppDeps> = {}): AppAlone {
  const catalogue = catalogueOf([MODEL, PAID_ONLY_MODEL], []);
  const app = createApp({
    accounts: unreachable("accounts"),
    keys: { known: () => null, find: async () => null, forget: () => {} },
    anonymous: {
      count: async () => ({ allowed: true, limit: 60, remaining: 59, resetSeconds: 60 }),
    },
    catalogue: () => catalogue,
    chat: unreachable("chat"),
    tokens: unreachable("tokens"),
    search: unreachable("search"),
    maps: unreachable("maps"),
    mail: unreachable("mail"),
    pauses: { isPaused: () => false },
    payments: null,
    console: null,
    checks: {},
    versions: () => ({ configuration: 0, documents: 0 }),
    clock: realClock,
    random,
    log: silent,
    trustedProxies: [],
    keyPeppers: [SECRET],
    clientInfo: createClientInfo({ ipHashSecret: () => SECRET, windowSecret: SECRET }),
    origin: null,
    dashboard: () => null,
    docsTryIt: false,
    averageReply: async () => null,
    receipts: unreachable("receipts"),
    awaitedReceipts: unreachable("awaitedReceipts"),
    runs: unreachable("runs"),
    mcp: { hosts: [], dashboard: null },
    ...parts,
  });
  const request: AppAlone["request"] = async (method, path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("host", "127.0.0.1");
    const url = `http://127.0.0.1${path}`;
    const response = await app.handle(new Request(url, { ...init, method, headers }));
    await mustBeDocumented(method, path, response);
    return response;
  };
  return { request, get: (path, headers = {}) => request("GET", path, { headers }) };
}

/** The console for these people, without the services behind its endpoints: using those throws. */
export function consoleAlone(people: ConsoleServices["people"]): ConsoleServices {
  const parts: Pick<ConsoleServices, "people" | "consoleUrl"> = { people, consoleUrl: null };
  return parts as ConsoleServices;
}

/** A part that throws as soon as a member of it is used. */
function unreachable<Part extends object>(part: string): Part {
  return new Proxy({} as Part, {
    get: (_, name) => {
      throw new Error(`This application has no ${part}: ${String(name)} was used`);
    },
  });
}
