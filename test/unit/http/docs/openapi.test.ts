// Tests that the OpenAPI documents are whole: every reference resolves, and a linter finds no
// fault.

import { describe, expect, test } from "bun:test";
import Ajv from "ajv";
import type { Surface } from "../../../../src/core/access/services.ts";
import { WEBHOOK_EVENT_TYPES } from "../../../../src/core/webhooks/webhook-events.ts";
import { webhookHeaders } from "../../../../src/core/webhooks/webhook-signature.ts";
import { documentOf } from "../../../../src/http/docs/documentation.ts";
import { errorsOf } from "../../../../src/http/endpoint-errors.ts";
import { DOCUMENTED } from "../../../../src/routes.ts";

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

interface WebhookOperation extends Operation {
  readonly requestBody: {
    readonly content: {
      readonly "application/json": {
        readonly schema: { readonly $ref: string };
        readonly example: { readonly type: string };
      };
    };
  };
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: WebhookOperation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const SURFACES: readonly Surface[] = ["gateway", "application"];

for (const surface of SURFACES) {
  describe(`the OpenAPI document of the ${surface} surface`, () => {
    const document = documentOf(surface, DOCUMENTED) as Document;
    const text = JSON.stringify(document);

    test("is of version 3.1 and has every endpoint once, by a name of its own", () => {
      expect(document.openapi).toBe("3.1.0");
      const all = Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
      );
      const program = surface === "gateway" ? DOCUMENTED.program : [];
      const expected = [...DOCUMENTED[surface], ...program];
      expect(all.sort()).toEqual(expected.map((one) => `${one.method} ${one.path}`).sort());
      const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
      expect(new Set(ids).size).toBe(expected.length + Object.keys(document.webhooks).length);
      expect(ids).toHaveLength(new Set(ids).size);
    });

    test("refers only to parts that it has", () => {
      for (const [, pointer = ""] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
        let found: unknown = document;
        for (const part of pointer.split("/")) found = Reflect.get(Object(found), part);
        expect([pointer, typeof found]).toEqual([pointer, "object"]);
      }
    });

    test("names every error code of every endpoint, and every open part of a path", () => {
      for (const one of DOCUMENTED[surface]) {
        const operation = document.paths[one.path]?.[one.method.toLowerCase()];
        const said = Object.values(operation?.responses ?? {}).map((one) => one.description);
        for (const code of errorsOf(one)) expect(said.join("\n")).toContain(`\`${code}\``);
        const open = [...one.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const inPath = (operation?.parameters ?? []).filter((parameter) => parameter.in === "path");
        expect(inPath.map(({ name }) => name)).toEqual(open as string[]);
      }
    });

    test("names the headers that are terms of a call, also where a call is passed on", () => {
      const passing = surface === "gateway" ? ["/v1/quote", "/mcp"] : ["/api/v1/quote"];
      const billed = DOCUMENTED[surface].filter(({ isBilled }) => isBilled);
      for (const path of [...passing, ...billed.map((one) => one.path)]) {
        const operations = Object.values(document.paths[path] ?? {});
        const names = operations.flatMap(({ parameters = [] }) => parameters.map((p) => p.name));
        const terms = ["x-svc-max-cost-usd", "x-svc-run", "x-svc-end-user"];
        expect([path, ...terms.filter((name) => names.includes(name))]).toEqual([path, ...terms]);
        expect(names.includes("Idempotency-Key")).toBe(!path.endsWith("/quote"));
      }
    });

    test("has each event of webhooks, with the headers that are sent and a body that fits", () => {
      const types = [...WEBHOOK_EVENT_TYPES, "webhook.test"];
      expect(Object.keys(document.webhooks)).toEqual(types);
      const sent = Object.keys(
        webhookHeaders({ id: "evt_1", at: new Date(0), body: "{}" }, ["whsec_AAAA"]),
      );
      const ajv = new Ajv({ strict: false, validateFormats: false });
      ajv.addSchema({ $id: "all", components: document.components });
      for (const [type, { post }] of Object.entries(document.webhooks)) {
        const names = (post.parameters ?? []).map(({ name }) => name);
        expect(["content-type", ...names]).toEqual(sent);
        const { schema, example } = post.requestBody.content["application/json"];
        const check = ajv.getSchema(`all${schema.$ref}`);
        expect([type, check?.(example), check?.errors]).toEqual([type, true, null]);
        expect(check?.({ ...example, type: "other" })).toBe(false);
        expect(example.type).toBe(type);
      }
    });

    test("refers to the claims of receipts, whose example fits them", () => {
      const path = surface === "gateway" ? "/v1/receipts/{id}" : "/api/v1/receipts/{id}";
      const receipt = document.components.schemas.Receipt as { properties: { claims: object } };
      expect(JSON.stringify(document.paths[path])).toContain("#/components/schemas/Receipt");
      expect(receipt.properties.claims).toEqual({ $ref: "#/components/schemas/ReceiptClaims" });
    });

    test("says that a stream may end with an error", () => {
      const streams = [...text.matchAll(/"text\/event-stream":\{"schema":(\{.*?\]\})/g)];
      const chunks = DOCUMENTED[surface].flatMap(({ chunk }) => chunk?.$id ?? []);
      expect(streams.map(([, schema]) => JSON.parse(schema ?? ""))).toEqual(
        chunks.map((name) => ({
          anyOf: [{ $ref: `#/components/schemas/${name}` }, { $ref: "#/components/schemas/Error" }],
        })),
      );
    });

    test("contains no keyword that only our refusals use", () => {
      expect(text).not.toContain('"must":');
      expect(text).not.toContain('"$id":');
    });
  });
}
