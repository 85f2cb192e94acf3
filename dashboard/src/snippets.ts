// Lines that make a first call, with the real address, key and model.

export const SNIPPETS = ["curl", "javascript", "python", "env"] as const;
export type SnippetName = (typeof SNIPPETS)[number];

interface SnippetTerms {
  readonly baseUrl: string;
  /** Null where the page does not have it. */
  readonly key: string | null;
  readonly surface: "gateway" | "application";
  readonly model: string;
}

/** The base address that SDKs take. */
export function sdkBase(baseUrl: string, surface: SnippetTerms["surface"]): string {
  return surface === "gateway" ? `${baseUrl}/v1` : `${baseUrl}/api/v1`;
}

export function snippet(name: SnippetName, terms: SnippetTerms): string {
  const base = sdkBase(terms.baseUrl, terms.surface);
  const model = terms.surface === "application" ? "auto" : terms.model;
  switch (name) {
    case "curl":
      return `curl ${base}/chat/completions \\
  -H "Authorization: Bearer ${terms.key ?? "$FAREBOX_API_KEY"}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`;
    case "javascript":
      return `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${base}",
  apiKey: ${terms.key === null ? "process.env.FAREBOX_API_KEY" : `"${terms.key}"`},
});
const reply = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(reply.choices[0].message.content);`;
    case "python":
      return `${terms.key === null ? "import os\n" : ""}from openai import OpenAI

client = OpenAI(
    base_url="${base}",
    api_key=${terms.key === null ? 'os.environ["FAREBOX_API_KEY"]' : `"${terms.key}"`},
)
reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.choices[0].message.content)`;
    case "env":
      return envLines(base, terms.key ?? "");
  }
}

/** The lines of a .env file. */
export function envLines(base: string, key: string): string {
  return `FAREBOX_BASE_URL=${base}\nFAREBOX_API_KEY=${key}`;
}
