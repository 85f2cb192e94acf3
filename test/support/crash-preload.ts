// Lets an API process kill itself at a chosen moment: `bun --preload` runs this before the program.
// CRASH_AT is `point:n`: at the n-th time that it is at that point (crash-points.ts), it is gone.

import { RespClient } from "../../actors/resp-client.ts";
import type { ScriptClient } from "../../actors/script-client.ts";
import { SCRIPT_LIBRARY } from "../../actors/script-library.ts";

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
  const armed: ScriptClient["fcall"] = async function (this: RespClient, name, ...rest) {
    if (script === undefined || name !== SCRIPT_LIBRARY.functionOf(script)) {
      return await fcall.call(this, name, ...rest);
    }
    if (point.startsWith("before")) pass();
    const reply = fcall.call(this, name, ...rest);
    // The client writes what is called in one turn at the end of that turn.
    if (point.startsWith("amid")) setImmediate(pass);
    const answer = await reply;
    if (point.startsWith("after")) pass();
    return answer;
  };
  Object.defineProperty(RespClient.prototype, "fcall", { value: armed, configurable: true });
}

const [point = "", at = ""] = (process.env.CRASH_AT ?? "").split(":");
if (point !== "") arm(point, Number(at));
