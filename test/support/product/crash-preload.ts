// Makes an API process kill itself at a chosen point: `bun --preload` runs this before the program.
// CRASH_AT is `point:n`: the process dies when it reaches this point (crash-points.ts) the n-th
// time.

import { RespClient } from "../../../actors/redis/resp-client.ts";
import type { ScriptClient } from "../../../actors/redis/script-client.ts";
import { SCRIPT_LIBRARY } from "../../../actors/scripts/script-library.ts";

function crash(): void {
  process.kill(process.pid, "SIGKILL");
}

function arm(point: string, at: number): void {
  let passed = 0;
  const pass = () => {
    passed += 1;
    if (passed === at) crash();
  };
  const { fcall } = RespClient.prototype;
  const script = ["admit", "settle"].find((name) => point.endsWith(name));
  const armed: ScriptClient["fcall"] = function (this: RespClient, name, keys, args, waiting) {
    if (script === undefined || name !== SCRIPT_LIBRARY.functionOf(script)) {
      fcall.call(this, name, keys, args, waiting);
      return;
    }
    if (point.startsWith("before")) pass();
    fcall.call(this, name, keys, args, {
      resolve(reply) {
        if (point.startsWith("after")) pass();
        waiting.resolve(reply);
      },
      reject: (error) => waiting.reject(error),
    });
    // The client collects the commands of one turn of the event loop and writes them at its end.
    if (point.startsWith("amid")) setImmediate(pass);
  };
  Object.defineProperty(RespClient.prototype, "fcall", { value: armed, configurable: true });
}

const [point = "", at = ""] = (process.env.CRASH_AT ?? "").split(":");
if (point !== "") arm(point, Number(at));
