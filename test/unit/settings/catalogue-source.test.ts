import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CancelSignal } from "../../../src/core/cancellation.ts";
import type { Log } from "../../../src/core/log.ts";
import { GUIDE_MODEL } from "../../../src/services/chat/models/catalogue.ts";
import { CatalogueError, parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import {
  CatalogueSource,
  type CatalogueSourceOptions,
} from "../../../src/settings/catalogue-source.ts";
import { hungUp } from "../../../src/upstream/http/http-error.ts";
import type { Fetch } from "../../../src/upstream/upstream-http.ts";
import { eventually } from "../../support/eventually.ts";

let folder: string;
let path: string;
let said: { level: string; message: string; line?: unknown }[];
const open: CatalogueSource[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "farebox-catalogue-"));
  path = join(folder, "farebox.config.json");
  said = [];
});
afterEach(async () => {
  for (const source of open.splice(0)) source.close();
  await rm(folder, { recursive: true });
});

const log: Log = {
  info: (_, message) => said.push({ level: "info", message }),
  warn: (_, message) => said.push({ level: "warn", message }),
  error: (fields, message) => said.push({ level: "error", message, ...fields }),
};

async function openSource(more: Partial<CatalogueSourceOptions> = {}): Promise<CatalogueSource> {
  const source = await CatalogueSource.open({
    path,
    required: false,
    env: {},
    log,
    probe: nobody,
    ownPort: null,
    applied: { inForce: async () => null },
    // The tests choose when to look.
    fileEveryMs: 3_600_000,
    serversEveryMs: 3_600_000,
    ...more,
  });
  open.push(source);
  return source;
}

function fileWith(...ids: string[]): string {
  const models = ids.map((id) => ({
    id,
    label: id,
    family: "f",
    owned_by: "o",
    context_length: 1000,
    pricing: [{ input_usd_per_m: "1", output_usd_per_m: "1" }],
    routes: [{ provider: "p", model: id }],
  }));
  const file = { providers: { p: { base_url: "http://127.0.0.1:1" } }, models };
  return JSON.stringify(file, null, 1);
}

function ids(source: CatalogueSource): string[] {
  return [...source.current().models.keys()].filter((id) => id !== GUIDE_MODEL);
}

const nobody: Fetch = () => Promise.reject(new Error("Connection refused"));

/** Rejects once a request is given up. */
function aborted(signal: CancelSignal | null): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
  });
}

/** Servers by port, each with its list of models; a missing one does not answer. */
function servers(lists: Record<number, unknown>): Fetch {
  return async (url) => {
    const { port, pathname, hostname } = new URL(url);
    const list = lists[Number(port)];
    if (list === undefined || pathname !== "/v1/models" || hostname !== "127.0.0.1") throw nobody;
    return list instanceof Response ? list : Response.json(list);
  };
}

function listOf(...models: (string | object)[]): object {
  const data = models.map((one) => (typeof one === "string" ? { id: one, object: "model" } : one));
  return { object: "list", data };
}

describe("the file", () => {
  test("is read at the start, and takes precedence over the machine's servers", async () => {
    await writeFile(path, fileWith("a"));
    const source = await openSource({ probe: servers({ 11434: listOf("local") }) });
    await source.checkServers();
    expect(ids(source)).toEqual(["a"]);
  });

  test("ends the start when it is wrong, or was named and does not exist", async () => {
    expect(openSource({ required: true })).rejects.toThrow("there is no such file");
    await writeFile(path, '{\n "providers": {},\n "modls": []\n}');
    expect(openSource()).rejects.toThrow(CatalogueError);
    expect(openSource()).rejects.toThrow(`${path} line 3: modls is not allowed here`);
  });

  test("ends the start when it cannot be read", () => {
    expect(openSource({ path: folder })).rejects.toThrow(CatalogueError);
  });

  test("takes effect in its new version as soon as it is looked at", async () => {
    await writeFile(path, fileWith("a"));
    const source = await openSource();
    const before = source.current();
    await source.checkFile();
    expect(source.current()).toBe(before);
    await writeFile(path, fileWith("a", "b"));
    await source.checkFile();
    expect(ids(source)).toEqual(["a", "b"]);
  });

  test("keeps its models when the new version is wrong, and the log says the line", async () => {
    await writeFile(path, fileWith("a"));
    const source = await openSource();
    const before = source.current();
    await writeFile(path, fileWith("b").replace('"provider": "p"', '"provider": "x"'));
    await source.checkFile();
    await source.checkFile();
    expect(source.current()).toBe(before);
    const errors = said.filter(({ level }) => level === "error");
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toContain("models[0].routes[0].provider 'x' is not a provider");
    expect(errors[0]?.line).toBe(22);
    await writeFile(path, fileWith("c"));
    await source.checkFile();
    expect(ids(source)).toEqual(["c"]);
  });

  test("may be replaced by renaming, even by one of the same size and time", async () => {
    await writeFile(path, fileWith("a"));
    await utimes(path, 1_000, 1_000);
    const source = await openSource();
    const other = join(folder, "other.json");
    await writeFile(other, fileWith("b"));
    await utimes(other, 1_000, 1_000);
    await rename(other, path);
    await source.checkFile();
    expect(ids(source)).toEqual(["b"]);
  });

  test("may be removed and made again; its models stay meanwhile", async () => {
    await writeFile(path, fileWith("a"));
    const source = await openSource({ probe: servers({ 11434: listOf("local") }) });
    await rm(path);
    await source.checkFile();
    await source.checkServers();
    expect(ids(source)).toEqual(["a"]);
    expect(said.at(-1)?.level).toBe("warn");
    await writeFile(path, fileWith("a"));
    await source.checkFile();
    await writeFile(path, fileWith("b"));
    await source.checkFile();
    expect(ids(source)).toEqual(["b"]);
  });

  test("that comes later takes over from the servers; a wrong one does not", async () => {
    const source = await openSource({ probe: servers({ 11434: listOf("local") }) });
    expect(ids(source)).toEqual(["local"]);
    await writeFile(path, "{");
    await source.checkFile();
    expect(ids(source)).toEqual(["local"]);
    await writeFile(path, fileWith("a"));
    await source.checkFile();
    await source.checkServers();
    expect(ids(source)).toEqual(["a"]);
  });

  test("is checked regularly, until the source is closed", async () => {
    await writeFile(path, fileWith("a"));
    const source = await openSource({ fileEveryMs: 5 });
    await writeFile(path, fileWith("b"));
    await eventually("the file is read again", () => ids(source)[0] === "b");
    source.close();
    await writeFile(path, fileWith("c"));
    await source.checkFile();
    expect(ids(source)).toEqual(["b"]);
  });
});

describe("servers of this machine", () => {
  test("are found on the ports that they use by default", async () => {
    const asked: string[] = [];
    await openSource({
      probe: (url, init) => {
        asked.push(url);
        return nobody(url, init);
      },
    });
    expect(asked.map((url) => new URL(url).port).sort()).toEqual(["11434", "1234", "8000", "8080"]);
  });

  test("offer their models at a small price that free credit can pay", async () => {
    const source = await openSource({ probe: servers({ 11434: listOf("llama3.1:8b") }) });
    const { models, providers } = source.current();
    expect(models.get("llama3.1:8b")).toMatchObject({
      label: "llama3.1:8b (local, Ollama)",
      family: "llama3.1",
      ownedBy: "ollama",
      freeCreditEligible: true,
      routes: [{ provider: "ollama", model: "llama3.1:8b" }],
    });
    expect(providers.get("ollama")).toMatchObject({ baseUrl: "http://127.0.0.1:11434/v1" });
  });

  test("give ids that a configuration file could have", async () => {
    const odd = ["/home/ada/models/tiny-q4.gguf", "my model", "C:\\m\\big.gguf", "é", "~x"];
    const long = "l".repeat(190);
    const list = listOf(...odd, long, "auto", "farebox-guide", "line\nbreak", "nomic-embed-text");
    const source = await openSource({ probe: servers({ 8080: list }) });
    expect(ids(source)).toEqual([
      "tiny-q4.gguf",
      "my-model",
      "big.gguf",
      "x",
      "l".repeat(100),
      "auto@llama.cpp",
      "farebox-guide@llama.cpp",
    ]);
    const { routes } = source.current().models.get("tiny-q4.gguf") ?? {};
    expect(routes).toEqual([{ provider: "llama.cpp", model: "/home/ada/models/tiny-q4.gguf" }]);
    expect(() => parseCatalogue(fileWith(...ids(source)), {})).not.toThrow();
  });

  test("may offer the same model twice", async () => {
    const probe = servers({ 11434: listOf("m", "m"), 1234: listOf("m") });
    expect(ids(await openSource({ probe }))).toEqual(["m", "m@lm-studio"]);
  });

  test("name the length of a prompt, if they know it", async () => {
    const probe = servers({ 8000: listOf({ id: "v", max_model_len: 4096 }, { id: "w" }) });
    const { models } = (await openSource({ probe })).current();
    expect(models.get("v")?.contextTokens).toBe(4096);
    expect(models.get("w")?.contextTokens).toBeGreaterThan(100_000);
  });

  test("are not another Farebox, nor this one", async () => {
    const farebox = listOf({ id: "farebox-guide", svc: {} }, { id: "m", svc: {} });
    expect(ids(await openSource({ probe: servers({ 8080: farebox }) }))).toEqual([]);
    const probe = servers({ 8080: listOf("m") });
    expect(ids(await openSource({ probe, ownPort: 8080 }))).toEqual([]);
  });

  test("may answer with anything without doing harm", async () => {
    const answers: unknown[] = [
      "a page",
      null,
      { data: {} },
      { data: [null, 5, "x", { id: 7 }, { id: "" }, []] },
      new Response("<html>"),
      new Response("no", { status: 500 }),
      Response.redirect("http://example.com/v1/models"),
      new Response(`{"data":[],"x":"${"x".repeat(2_000_000)}"}`),
    ];
    for (const answer of answers) {
      expect(ids(await openSource({ probe: servers({ 8000: answer }) }))).toEqual([]);
    }
  });

  test("that never answer do not delay the start", async () => {
    const signals: CancelSignal[] = [];
    const probe: Fetch = (_, { signal }) => {
      if (signal) signals.push(signal);
      return aborted(signal);
    };
    await openSource({ probe });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
  });

  test("appear when they are started later, and disappear after two misses", async () => {
    const lists: Record<number, unknown> = {};
    const source = await openSource({ probe: servers(lists) });
    expect(ids(source)).toEqual([]);
    lists[11434] = listOf("m");
    await source.checkServers();
    expect(ids(source)).toEqual(["m"]);
    const found = source.current();
    await source.checkServers();
    expect(source.current()).toBe(found);
    delete lists[11434];
    await source.checkServers();
    expect(ids(source)).toEqual(["m"]);
    await source.checkServers();
    expect(ids(source)).toEqual([]);
  });

  test.each([
    ["answer nothing in time", () => new Promise<Response>(() => {})],
    ["break the connection off", () => Promise.reject(hungUp())],
    ["say that they are too busy", async () => new Response("", { status: 503 })],
  ])("keep their models while they %s", async (_, answer) => {
    let isBusy = false;
    const list = servers({ 11434: listOf("m") });
    const probe: Fetch = (url, init) => {
      if (!isBusy || !url.includes(":11434/")) return list(url, init);
      return Promise.race([answer(), aborted(init.signal)]);
    };
    const source = await openSource({ probe });
    isBusy = true;
    for (let probes = 0; probes < 3; probes += 1) await source.checkServers();
    expect(ids(source)).toEqual(["m"]);
  });

  test("are looked for regularly", async () => {
    const lists: Record<number, unknown> = {};
    const source = await openSource({ probe: servers(lists), serversEveryMs: 5 });
    lists[1234] = listOf("late");
    await eventually("the server is found", () => ids(source)[0] === "late");
    expect(ids(source)).toEqual(["late"]);
  });
});
