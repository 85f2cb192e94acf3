// Builds stripe-mock, Stripe's own stand-in, made from its OpenAPI document: once with Go, in
// exactly the version that is pinned here, below the home of Farebox.

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeFolder } from "../../../../scripts/local/home.mjs";
import { eventually } from "../../../support/eventually.ts";
import { findGo, must, type OrMissing } from "../../../support/product/toolchains.ts";

const MODULE = "github.com/stripe/stripe-mock@v0.203.0";
/** The path of the OpenAPI document in the sources of the module. */
const DOCUMENT = "embedded/openapi/spec3.json";

export interface StripeMock {
  readonly program: string;
  /** The file of the OpenAPI document that the program was made from. */
  readonly document: string;
}

/**
 * Builds the server where that was not done before. A build that fails is an error, and is not
 * taken for a missing toolchain.
 */
export async function prepareStripeMock(): Promise<OrMissing<StripeMock>> {
  const go = await findGo();
  if (typeof go !== "string") return go;
  const { folder, complete, ...mock } = places();
  if (existsSync(complete)) return mock;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await must([go, "install", MODULE], { GOBIN: folder });
  const { Dir } = JSON.parse(await must([go, "mod", "download", "-json", MODULE])) as {
    readonly Dir: string;
  };
  copyFileSync(join(Dir, DOCUMENT), mock.document);
  writeFileSync(complete, "");
  return mock;
}

/** The program if an earlier run built it; nothing is installed. */
export function preparedStripeMock(): OrMissing<StripeMock> {
  const { complete, program, document } = places();
  if (existsSync(complete)) return { program, document };
  return { missing: "'npm run contracts' did not build stripe-mock yet" };
}

function places() {
  const folder = join(homeFolder(), "tools", MODULE.replaceAll(/[/@]/g, "-"));
  return {
    folder,
    program: join(folder, "stripe-mock"),
    document: join(folder, "spec3.json"),
    complete: join(folder, "complete"),
  };
}

export interface MockRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly body: string;
}

export interface RunningMock extends AsyncDisposable {
  ask(request: MockRequest): Promise<{ readonly status: number; readonly text: string }>;
}

/** Starts it on its own socket. */
export async function startStripeMock({ program }: StripeMock): Promise<RunningMock> {
  const folder = mkdtempSync(join(tmpdir(), "farebox-stripe-mock-"));
  const socket = join(folder, "socket");
  const child = Bun.spawn([program, "-http-unix", socket], { stdout: "ignore", stderr: "ignore" });
  await eventually("stripe-mock listens", () => existsSync(socket), 60_000);
  return {
    async ask({ method, path, body }) {
      const response = await fetch(`http://stripe-mock${path}`, {
        unix: socket,
        method,
        headers: {
          authorization: "Bearer sk_test_123",
          "content-type": "application/x-www-form-urlencoded",
        },
        ...(method !== "GET" && { body }),
      });
      return { status: response.status, text: await response.text() };
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
