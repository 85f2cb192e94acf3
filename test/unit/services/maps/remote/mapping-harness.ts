// Answers each case as it is documented, and records the request and the result.

import {
  askServer,
  bytesOf,
  CASES,
  type Case,
  serverOf,
} from "../../../../support/fakes/maps-cases.ts";
import { FakeMapServer } from "./fake-map-server.ts";

export interface Mapped {
  /** The request to the server: its parameters or statements one by one, decoded. */
  readonly request: readonly string[];
  readonly data: unknown;
  readonly attribution: readonly string[];
}

export async function startMapping() {
  const fake = await FakeMapServer.start();
  const serverFor = (kind: Case["kind"]) => serverOf(kind, fake.baseUrl, { apiKey: null });

  /** The case of this name, such as `osrm route`. */
  async function mapped(name: string): Promise<Mapped> {
    const one = CASES.find(({ kind, action }) => `${kind} ${action}` === name);
    if (one === undefined) throw new Error(`There is no case ${name}`);
    const { kind, action, query, reply } = one;
    fake.behaviour = { status: 200, body: bytesOf(reply) };
    const { data, attribution } = await askServer({ server: serverFor(kind), action, query });
    const { method, target, body } = fake.last();
    const request = [method, target, body].filter((part) => part !== "").join(" ");
    const decoded = decodeURIComponent(request.replaceAll("+", " "));
    const separator = kind === "overpass" ? /;(?=.)/ : /[?&]/;
    return { request: decoded.split(separator), data, attribution };
  }

  /** The answer of an action to another query or another reply. */
  async function answered(one: Case, status = 200): Promise<unknown> {
    const { kind, action, query, reply } = one;
    fake.behaviour = { status, body: bytesOf(reply) };
    return (await askServer({ server: serverFor(kind), action, query })).data;
  }

  return { fake, mapped, answered, [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose]() };
}
