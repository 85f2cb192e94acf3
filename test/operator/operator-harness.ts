// The operators' console over real HTTP, for people who are told by their cookie.

import { fits } from "../../src/http/unknown-route.ts";
import { OPERATOR } from "../../src/routes.ts";
import {
  ConsoleHarness,
  type OwnParts,
  type Somebody,
  type Told,
} from "../console/console-harness.ts";
import { misfit } from "../support/contract.ts";

const PATH = "/console/operator";

export class OperatorHarness implements AsyncDisposable {
  constructor(readonly console: ConsoleHarness) {}

  static async start(own: OwnParts = () => ({})): Promise<OperatorHarness> {
    return new OperatorHarness(
      // The tests come from this machine, and say which address they mean.
      await ConsoleHarness.start((stores) => ({ trustedProxies: ["127.0.0.1"], ...own(stores) })),
    );
  }

  get api() {
    return this.console.api;
  }

  async get<Body>(path: string, who: Somebody = "operator"): Promise<Told<Body>> {
    return await this.#send<Body>("GET", path, who);
  }

  async post<Body>(path: string, body: object, who: Somebody = "operator"): Promise<Told<Body>> {
    return await this.#send<Body>("POST", path, who, body);
  }

  /** Every success is held to the schema of its endpoint. */
  async #send<Body>(method: string, path: string, who: Somebody, body?: object) {
    const { url } = this.api.parts;
    const response = await fetch(`${url}${PATH}${path}`, {
      method,
      headers: {
        cookie: `session=${who}`,
        ...(body !== undefined && { "content-type": "application/json", origin: url }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const json = (await response.json()) as Body & { readonly error?: Record<string, string> };
    const problem = response.ok ? misfit(endpointOf(method, path).reply, json) : null;
    if (problem !== null) throw new Error(`${method} ${path} answered ${problem}`);
    const { status, headers } = response;
    const { code, message } = json.error ?? {};
    return { status, headers, body: json, code, message };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.console[Symbol.asyncDispose]();
  }
}

function endpointOf(method: string, path: string) {
  const plain = `${PATH}${path}`.replace(/\?.*/, "");
  const found = OPERATOR.find((one) => one.method === method && fits(one, plain));
  if (found === undefined) throw new Error(`Operators have no ${method} ${path}`);
  return found;
}
