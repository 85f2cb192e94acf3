import { atEnd } from "./shared.ts";

/**
 * Makes `folder` the working folder of this process and adds to its environment, until the last
 * test of the file has run.
 */
export function workIn(folder: string, environment: Readonly<Record<string, string>> = {}): void {
  const folderBefore = process.cwd();
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  process.chdir(folder);
  Object.assign(process.env, environment);
  atEnd(() => {
    process.chdir(folderBefore);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}
