// Finds Chromium on this machine, and starts it.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** The headless shell comes first: it takes half of the processor time of the whole browser. */
const PATHS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
/** Only newer releases of Debian have the first one. */
const DEBIAN_PACKAGES = ["chromium-headless-shell", "chromium"];

/** Returns the path of Chromium; installs it if possible, which needs root and apt. */
export function ensureChromium(): string | null {
  const found = () => PATHS.find((path) => existsSync(path)) ?? null;
  if (found() !== null || process.getuid?.() !== 0) return found();
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]) => Bun.spawnSync(["apt-get", ...args], { env }).success;
  const install = (name: string) => apt("install", "-y", "--no-install-recommends", name);
  try {
    apt("update");
    DEBIAN_PACKAGES.some(install);
  } catch {
    // A system without apt.
    return null;
  }
  return found();
}

/** Starts a browser that the caller closes. */
export async function startBrowser(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
