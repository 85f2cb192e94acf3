// Finds Chromium on this machine, and starts it.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Returns the path of Chromium; installs it if possible, which needs root and apt. */
export function ensureChromium(): string | null {
  const found = () => PATHS.find((path) => existsSync(path)) ?? null;
  if (found() !== null || process.getuid?.() !== 0) return found();
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    Bun.spawnSync(["apt-get", "update"], { env });
    Bun.spawnSync(["apt-get", "install", "-y", "--no-install-recommends", "chromium"], { env });
  } catch {
    return null;
  }
  return found();
}

/** Starts a browser that the caller closes. */
export async function startBrowser(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
