import { describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_BRAND } from "../../../../src/core/brand/brand.ts";
import { passagesOf } from "../../../../src/core/text/markdown-passages.ts";
import { GUIDE_CONTEXT_TOKENS } from "../../../../src/services/chat/models/catalogue.ts";
import {
  createGuide,
  type GuideDocument,
  loadGuideDocuments,
} from "../../../../src/services/chat/protocols/guide/guide.ts";
import type {
  ChatBatch,
  ChatMessage,
  ChatRequest,
} from "../../../../src/services/chat/protocols/provider.ts";
import { RESPONSES_FIELDS } from "../../../../src/services/chat/refused-fields.ts";
import { TokenCounter } from "../../../../src/services/chat/tokens/token-counter.ts";
import { countPromptTokens, countTokens } from "../../../../src/services/chat/tokens/tokens.ts";
import { realClock } from "../../../support/fakes/fake-clock.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { atEnd } from "../../../support/shared.ts";

const README = `# Farebox

A prepaid gateway that you
host yourself.

## Start

Run this:

\`\`\`sh
npm start
# Not a heading.
\`\`\`

and wait for the key.
`;

const MONEY = `# Money

## Holds

A call first takes a **hold**, an upper bound
of its cost. It is settled once.

## Refunds

- A refund takes credit back.
- A dispute freezes it
  until it is decided.
`;

const SETTINGS = `# Settings

| variable    | default | what                |
| ----------- | ------- | ------------------- |
${Array.from({ length: 30 }, (_, n) => `| \`OTHER_${n}\` | ${n} | some other thing |`).join("\n")}
| \`LOG_LEVEL\` | info    | how much is logged  |
`;

const documents: GuideDocument[] = [
  { name: "README.md", text: README },
  { name: "docs/money.md", text: MONEY },
  { name: "docs/settings.md", text: SETTINGS },
];
const tokens = new TokenCounter({ clock: realClock, log: silent });
atEnd(() => tokens.close());
const guide = createGuide({ documents, brand: () => DEFAULT_BRAND, tokens });
const account = "acct_1";
const signal = new AbortController().signal;

function requestOf(question: string, more: Partial<ChatRequest> = {}): ChatRequest {
  const messages: ChatMessage[] = [{ role: "user", content: question }];
  return { messages, maxTokens: 1_000, parameters: {}, ...more };
}

async function ask(question: string, more: Partial<ChatRequest> = {}): Promise<string> {
  const { choices } = await guide.complete(requestOf(question, more), { account, signal });
  return choices[0]?.message.content ?? "";
}

async function streamed(request: ChatRequest): Promise<ChatBatch[]> {
  return await Array.fromAsync(guide.stream(request, { account, signal }));
}

function batchText(batches: readonly ChatBatch[]): string {
  return batches.flatMap(({ deltas }) => deltas.map(({ delta }) => delta.content ?? "")).join("");
}

describe("an answer", () => {
  test("quotes the passage that fits, with its document and heading", async () => {
    expect(await ask("How do holds work?")).toStartWith(
      'From docs/money.md, "Holds":\n\n' +
        "> A call first takes a **hold**, an upper bound of its cost. It is settled once.\n",
    );
    expect(await ask("what happens to disputed refunds")).toStartWith(
      'From docs/money.md, "Refunds":\n\n' +
        "> - A refund takes credit back.\n> - A dispute freezes it until it is decided.\n",
    );
  });

  test("quotes code with the sentences around it", async () => {
    expect(await ask("How do I start it?")).toStartWith(
      'From README.md, "Start":\n\n' +
        "> Run this:\n>\n> ```sh\n> npm start\n> # Not a heading.\n> ```\n>\n" +
        "> and wait for the key.",
    );
  });

  test("quotes the fitting row of a long table below the table's head", async () => {
    expect(await ask("What does LOG_LEVEL do?")).toStartWith(
      'From docs/settings.md, "Settings":\n\n' +
        "> | variable | default | what |\n> | --- | --- | --- |\n" +
        "> | `LOG_LEVEL` | info | how much is logged |\n\n",
    );
  });

  test("explains Farebox", async () => {
    expect(await ask("What is Farebox?")).toStartWith(
      'From README.md, "Farebox":\n\n> A prepaid gateway that you host yourself.',
    );
  });

  test("says that the guide is no language model", async () => {
    for (const question of ["holds", "hello", "", "What is the capital of France?"]) {
      expect(await ask(question)).toContain("I am no language model");
    }
  });

  test("says that nothing fits rather than quoting something else", async () => {
    for (const question of ["What is the capital of France?", "Wie wird das Wetter morgen?"]) {
      const said = await ask(question);
      expect(said).toStartWith("I found nothing about that.");
      expect(said).not.toContain(">");
    }
  });

  test("answers the last message of the user", async () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "How do holds work?" },
      { role: "assistant", content: "Well." },
      { role: "user", content: "And refunds?" },
      { role: "assistant", content: "Start with holds:" },
    ];
    expect(await ask("", { messages })).toStartWith('From docs/money.md, "Refunds"');
    const system: ChatMessage[] = [{ role: "system", content: "Talk about holds." }];
    expect(await ask("", { messages: system })).toStartWith("I am no language model");
  });

  test("is the same each time, streamed or not, and ignores tools", async () => {
    const request = requestOf("refunds and holds", { parameters: { tools: [{ name: "x" }] } });
    const whole = await guide.complete(request, { account, signal });
    const batches = await streamed(request);
    expect(batchText(batches)).toBe(whole.choices[0]?.message.content ?? "");
    expect(batches.at(-1)?.usage).toEqual(whole.usage);
    expect(await ask("refunds and holds")).toBe(batchText(batches));
  });

  test("survives any question, long ones and strange ones too", async () => {
    for (const other of ["x".repeat(30_000), "The weather is fine. ".repeat(500)]) {
      expect(await ask(`${other} ${" ".repeat(400)} How do holds work?`)).toContain("Holds");
      expect(await ask(`How do holds work? ${" ".repeat(400)} ${other}`)).toContain("Holds");
    }
    for (const odd of ["__proto__ constructor", "\ud800", "|||", "```", "#".repeat(500)]) {
      expect(await ask(odd)).toContain("I am no language model");
    }
  });

  test("without any document names itself", async () => {
    const empty = createGuide({ documents: [], brand: () => DEFAULT_BRAND, tokens });
    for (const question of ["What is Farebox?", "holds"]) {
      const { choices } = await empty.complete(requestOf(question), { account, signal });
      expect(choices[0]?.message.content).toContain("I am no language model");
    }
  });
});

describe("limits", () => {
  test("max_tokens is kept to the token, and reported", async () => {
    for (const maxTokens of [1, 2, 7, 20]) {
      const request = requestOf("How do holds work?", { maxTokens });
      const { choices, usage } = await guide.complete(request, { account, signal });
      expect(choices[0]?.finish_reason).toBe("length");
      expect(usage?.completionTokens).toBeLessThanOrEqual(maxTokens);
      const whole = await ask("How do holds work?");
      expect(whole).toStartWith(choices[0]?.message.content ?? "?");
      const last = (await streamed(request)).at(-1);
      expect(last?.deltas[0]?.finish_reason).toBe("length");
      expect(last?.usage).toEqual(usage);
    }
  });

  test("a stop sequence ends the answer before it", async () => {
    for (const stop of ["bound", ["never there", "bound"]]) {
      const said = await ask("How do holds work?", { parameters: { stop } });
      expect(said).toEndWith("> A call first takes a **hold**, an upper ");
    }
  });

  test("the usage counts real tokens of prompt and answer", async () => {
    const request = requestOf("How do holds work?");
    const { choices, usage } = await guide.complete(request, { account, signal });
    expect(usage).toEqual({
      promptTokens: countPromptTokens(request.messages, ""),
      cachedTokens: 0,
      completionTokens: countTokens(choices[0]?.message.content ?? ""),
    });
  });

  test("a prompt above the context length is refused", async () => {
    const request = requestOf("word ".repeat(GUIDE_CONTEXT_TOKENS + 10));
    const refused = { code: "invalid_parameter", param: "messages" };
    await expect(guide.complete(request, { account, signal })).rejects.toMatchObject(refused);
    await expect(streamed(request)).rejects.toMatchObject(refused);
    const response = { ...request, fields: RESPONSES_FIELDS };
    const named = { ...refused, param: "input" };
    await expect(guide.complete(response, { account, signal })).rejects.toMatchObject(named);
  });
});

describe("a stream", () => {
  test("comes in small batches, its end and its usage last", async () => {
    const batches = await streamed(requestOf("How do holds work?"));
    expect(batches[0]?.deltas[0]?.delta.role).toBe("assistant");
    for (const batch of batches.slice(0, -1)) {
      expect(batch.usage).toBeNull();
      expect(batchText([batch]).trim().split(/\s+/).length).toBeLessThanOrEqual(4);
      expect(batch.deltas[0]?.finish_reason).toBeNull();
    }
    expect(batches.at(-1)?.deltas).toEqual([{ index: 0, delta: {}, finish_reason: "stop" }]);
    expect(batches.length).toBeGreaterThan(5);
  });

  test("lets other work in between its batches", async () => {
    let turns = 0;
    const turn = () => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const batches = await streamed(requestOf("How do holds work?"));
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(batches.length - 2);
  });

  test("ends with the caller's abort, before or within it", async () => {
    const caller = new AbortController();
    const batches = guide.stream(requestOf("How do holds work?"), {
      account,
      signal: caller.signal,
    });
    const iterator = batches[Symbol.asyncIterator]();
    await iterator.next();
    caller.abort(new Error("gone"));
    expect(iterator.next()).rejects.toThrow("gone");
    expect(guide.complete(requestOf("holds"), { account, signal: caller.signal })).rejects.toThrow(
      "gone",
    );
  });
});

describe("documents", () => {
  test("a folder's README, docs and CONTRIBUTING are read, in this order", async () => {
    const folder = await mkdtemp(join(tmpdir(), "farebox-guide-"));
    try {
      await mkdir(join(folder, "docs"));
      for (const name of [
        "README.md",
        "CONTRIBUTING.md",
        "docs/b.md",
        "docs/a.md",
        "docs/c.json",
      ]) {
        await writeFile(join(folder, name), `# ${name}\n`);
      }
      const names = (await loadGuideDocuments(folder)).map(({ name }) => name);
      expect(names).toEqual(["README.md", "docs/a.md", "docs/b.md", "CONTRIBUTING.md"]);
      expect(await loadGuideDocuments(join(folder, "nowhere"))).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("no word of a document is lost when it is split", () => {
    for (const document of documents) {
      const kept = passagesOf(document).flatMap(({ headings, lead, text }) => [
        ...headings,
        lead,
        text,
      ]);
      const words = new Set(kept.join(" ").match(/\w+/g));
      for (const word of document.text.match(/\w+/g) ?? []) expect(words).toContain(word);
    }
  });

  test("comments for the editors of a page are not quoted", () => {
    const text =
      "# Fares\n\nA fare.\n<!-- made by a script -->\n\n```html\n<!-- an example -->\n```\n";
    const quotes = passagesOf({ name: "fares.md", text }).map((passage) => passage.text);
    expect(quotes).toEqual(["A fare.\n\n```html\n<!-- an example -->\n```"]);
  });

  test("the project's own pages answer the questions of newcomers", async () => {
    const own = createGuide({
      brand: () => DEFAULT_BRAND,
      tokens,
      documents: await loadGuideDocuments(join(import.meta.dir, "../../../..")),
    });
    const asked: Record<string, string> = {
      "What is Farebox?": "From README.md",
      "What does LOG_LEVEL do?": "From docs/configuration.md",
      "What happens when Redis is killed?": "From docs/money.md",
      "Who owns SQL?": "From docs/ARCHITECTURE.md",
      "What is a hold?": "From docs/glossary.md",
      "How do I rotate KEY_PEPPER?": "From docs/operating.md",
      insufficient_credits: "From docs/errors.md",
      "where are prices configured": "From docs/configuration.md",
      "how do I add a provider": "From CONTRIBUTING.md",
    };
    for (const [question, start] of Object.entries(asked)) {
      const { choices } = await own.complete(requestOf(question), { account, signal });
      expect(choices[0]?.message.content).toStartWith(start);
    }
  });
});
