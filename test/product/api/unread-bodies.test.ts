// Tests refusals that do not depend on the body: they are answered while the body has yet to
// arrive.

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { CHAT } from "../../../src/core/access/limits.ts";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { SMALL_BODY_BYTES } from "../../../src/http/body/body-shares.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { eventually } from "../../support/eventually.ts";
import type { AccountTerms, TestAccount } from "../../support/stores/accounts.ts";

const api = await sharedApi();

/** A body that does not arrive is refused for that reason after 10 s. */
const SOON_MS = 5_000;
const FREE_REQUESTS = 20;

/** Headers that announce a body of which no byte comes. */
const ANNOUNCED = {
  "a large body": `content-length: ${CHAT.bodyBytesMax}`,
  "a body of unknown length": "transfer-encoding: chunked",
  "a small body": "content-length: 100",
};

/** Sends only headers; resolves to the answer. */
function sendHeaders(path: string, headers: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(api.parts.port, "127.0.0.1");
  const lines = [`POST ${path} HTTP/1.1`, "host: x", "content-type: application/json", ...headers];
  socket.on("connect", () => void socket.write(`${lines.join("\r\n")}\r\n\r\n`));
  let answer = "";
  socket.on("data", (piece) => {
    answer += String(piece);
    if (answer.includes('"error"')) socket.destroy();
  });
  socket.on("error", reject);
  socket.on("close", () => resolve(answer));
  return promise;
}

const keyOf = ({ key }: TestAccount) => `authorization: Bearer ${key}`;

const CASES: readonly (readonly [ErrorCode, AccountTerms])[] = [
  ["account_inactive", { state: "suspended" }],
  ["payment_required", { reversed: "2" }],
  ["ip_not_allowed", { ip: ["192.0.2.0/24"] }],
  ["insufficient_scope", { scopes: ["search"] }],
  ["rate_limit_exceeded", {}],
  ["model_unavailable", {}],
];

describe("a refusal that does not depend on the body does not wait for it:", () => {
  for (const [announced, header] of Object.entries(ANNOUNCED)) {
    for (const [code, terms] of CASES) {
      test(`${code}, ${announced}`, async () => {
        const account = await api.account(terms);
        if (code === "rate_limit_exceeded") await fillWindow(account);
        if (code === "model_unavailable") api.paused.add("chat");
        const startedMs = performance.now();
        const answer = await sendHeaders("/v1/chat/completions", [keyOf(account), header]);
        expect(answer).toContain(`"code":"${code}"`);
        expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
      });
    }

    test(`tier_required, ${announced}`, async () => {
      const account = await api.account({ scopes: ["mail"] });
      const startedMs = performance.now();
      const answer = await sendHeaders("/v1/mail/send", [keyOf(account), header]);
      expect(answer).toContain('"code":"tier_required"');
      expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
    });

    for (const [code, key] of [
      ["missing_api_key", "x-nothing: 1"],
      ["invalid_api_key", "authorization: Bearer sk-none"],
    ] as const) {
      test(`${code}, ${announced}`, async () => {
        const startedMs = performance.now();
        expect(await sendHeaders("/v1/chat/completions", [key, header])).toContain(code);
        expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
      });
    }
  }

  test("body_too_large", async () => {
    const account = await api.account();
    const header = `content-length: ${CHAT.bodyBytesMax + 1}`;
    const answer = await sendHeaders("/v1/chat/completions", [keyOf(account), header]);
    expect(answer).toContain('"code":"body_too_large"');
    expect(answer).toContain("x-ratelimit-remaining-requests: 19");
  });
});

describe("a call whose account is asked ahead of its body", () => {
  const large = (fields: object = {}) =>
    chatBody({ messages: [{ role: "user", content: "x".repeat(SMALL_BODY_BYTES) }], ...fields });
  const remaining = (response: Response) => response.headers.get("x-ratelimit-remaining-requests");

  test("counts once when it is served", async () => {
    const account = await api.account({ free: "5" });
    const first = await api.post(account, large());
    expect([first.status, remaining(first)]).toEqual([200, "19"]);
    const second = await api.post(account, large());
    expect([second.status, remaining(second)]).toEqual([200, "18"]);
  });

  test("counts and is logged once when its body is refused", async () => {
    const account = await api.account();
    const response = await api.post(account, large({ temperature: 3 }));
    expect((await errorOf(response)).code).toBe("invalid_parameter");
    expect(remaining(response)).toBe("19");
    expect(await api.journal(account)).toHaveLength(1);
  });

  test("counts once when its prompt has to be counted for lack of credit", async () => {
    const account = await api.account({ free: "0.000001" });
    const response = await api.post(account, large());
    expect((await errorOf(response)).code).toBe("insufficient_credits");
    expect(remaining(response)).toBe("19");
    expect(await api.journal(account)).toHaveLength(1);
  });

  test("may be the last that fits into the window", async () => {
    const account = await api.account({ free: "5" });
    for (let sent = 1; sent < FREE_REQUESTS; sent += 1) await api.post(account, "{");
    expect((await api.post(account, large())).status).toBe(200);
    expect((await errorOf(await api.post(account, large()))).code).toBe("rate_limit_exceeded");
  });

  test("is refused by the first row of the error table that applies", async () => {
    api.paused.add("chat");
    const broken = `{${" ".repeat(SMALL_BODY_BYTES)}`;
    const codes = [];
    for (const terms of [
      { state: "suspended", ip: ["192.0.2.1"], scopes: [] },
      { ip: ["192.0.2.1"], scopes: [] },
      { scopes: ["search"] },
      {},
    ] satisfies AccountTerms[]) {
      codes.push((await errorOf(await api.post(await api.account(terms), broken))).code);
    }
    expect(codes).toEqual([
      "account_inactive",
      "ip_not_allowed",
      "insufficient_scope",
      "model_unavailable",
    ]);
  });
});

/** Programs that send a file of the largest size and print the status of the answer. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  "fetch of Node": [
    "node",
    "--input-type=module",
    "-e",
    `const [url, key, size] = process.argv.slice(1);
    const headers = { authorization: "Bearer " + key };
    const response = await fetch(url, { method: "POST", headers, body: "x".repeat(Number(size)) });
    console.log(response.status);`,
  ],
  // The client asks for the connection to be closed, and writes the whole body before it reads.
  "urllib of Python": [
    "python3",
    "-c",
    `import sys, urllib.request
url, key, size = sys.argv[1:]
asked = urllib.request.Request(url, b"x" * int(size), {"authorization": "Bearer " + key})
try: urllib.request.urlopen(asked)
except urllib.error.HTTPError as refused: print(refused.code)`,
  ],
};

for (const [name, [program = "", ...args]] of Object.entries(CLIENTS)) {
  test.skipIf(Bun.which(program) === null)(`${name} sees the refusal of its body`, async () => {
    const account = await api.account({ state: "suspended" });
    const url = `${api.parts.url}/v1/chat/completions`;
    const statuses = await Promise.all(
      [account.key, "sk-none"].map(async (key) => {
        const command = [program, ...args, url, key, String(CHAT.bodyBytesMax)];
        const client = Bun.spawn(command, { stderr: "inherit" });
        return (await new Response(client.stdout).text()).trim();
      }),
    );
    expect(statuses).toEqual(["403", "401"]);
  });
}

test("after a refusal without a body, small bodies are not waited for either", async () => {
  const account = await api.account({ scopes: ["search"] });
  await api.post(account, chatBody());
  const startedMs = performance.now();
  const header = ANNOUNCED["a small body"];
  const answer = await sendHeaders("/v1/chat/completions", [keyOf(account), header]);
  expect(answer).toContain("insufficient_scope");
  expect(performance.now() - startedMs).toBeLessThan(450);
});

test("a key far over its limit loses the connection of a large body", async () => {
  const account = await api.account();
  // The refusals of a minute count, and each is the answer for the rest of its second.
  const refused = async (announced: keyof typeof ANNOUNCED) => {
    let answer = "";
    await eventually("the key is answered from memory", async () => {
      await fillWindow(account);
      answer = await sendHeaders("/v1/chat/completions", [keyOf(account), ANNOUNCED[announced]]);
      return answer.includes("This key was refused more than");
    });
    return answer;
  };
  const large = await refused("a large body");
  expect(large).toContain('"code":"rate_limit_exceeded"');
  expect(large.toLowerCase()).toContain("connection: close");
  expect((await refused("a small body")).toLowerCase()).not.toContain("connection: close");
});

async function fillWindow(account: TestAccount): Promise<void> {
  await Promise.all(Array.from({ length: FREE_REQUESTS }, () => api.post(account, "{")));
}
