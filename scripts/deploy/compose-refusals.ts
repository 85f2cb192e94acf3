// Tries those parts of deploy/compose.yaml that the check does in another way, as the file has
// them, and reports each with the exact words of whoever refuses it (D-865).

import type { Installation } from "./compose-run.ts";
import { composeImages } from "./images.ts";
import type { Report } from "./report.ts";
import type { ProgramResult } from "./tools.ts";

/** A part of the compose file, and the way in which the check does it here. */
interface Attempt {
  readonly part: string;
  readonly instead: string;
  readonly run: () => Promise<ProgramResult>;
}

/** Runs at the end of the check, because it ends the worker and Redis. */
export async function reportRefusals(at: Installation, report: Report): Promise<void> {
  for (const { part, instead, run } of attemptsOf(at)) {
    const words = refusalIn(await run());
    if (words === null) report.ok(`compose: ${part}, as the file has it`);
    else report.refused(`compose: ${part} (${instead})`, words);
  }
}

/** The lines of a refusal; null for a command that did all it was asked to. */
export function refusalIn({ exitCode, stdout, stderr }: ProgramResult): string | null {
  const lines = (stderr + stdout).split("\n").map((line) => line.trim());
  // Podman logs what it leaves out of a container that it starts.
  const words = lines.filter((line) => /^Error:|level=error/.test(line));
  if (exitCode === 0 && words.length === 0) return null;
  const said = words.length > 0 ? words : lines.filter((line) => line !== "").slice(-1);
  return [...new Set(said)].join("\n") || `it ended with ${exitCode}, without a word`;
}

function attemptsOf(at: Installation): readonly Attempt[] {
  return [
    {
      part: "ulimits of 65,536 files",
      instead: "run with 1,024",
      run: () =>
        at.tryCompose(["run", "--rm", "--no-deps", "-T", "migrate", "--help"], {
          asItStands: true,
        }),
    },
    {
      part: "depends_on",
      instead: "started in that order, with --no-deps",
      run: async () => {
        await at.engine.must("rm", "--force", at.container("worker"));
        return at.tryCompose(["up", "--detach", "--no-build", "worker"]);
      },
    },
    {
      part: "healthcheck",
      instead: "run by `podman healthcheck run`",
      run: () => at.engine.podman("restart", at.container("redis")),
    },
    {
      part: "public images",
      instead: "stand-ins of the same names, and no profile",
      run: () => at.engine.podman("pull", "--quiet", `docker.io/library/${composeImages().proxy}`),
    },
  ];
}
