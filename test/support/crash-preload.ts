// Lets an API process kill itself at a chosen moment: `bun --preload` runs this before the program.
// CRASH_AT is `point:n`: at the n-th time that it is at that point (crash-points.ts), it is gone.

import { admit } from "../../actors/admit-script.ts";
import { settle } from "../../actors/call-scripts.ts";
import { RespClient } from "../../actors/resp-client.ts";
import type { ScriptClient } from "../../actors/script-client.ts";

function crash(): void {
  process.kill(process.pid, "SIGKILL");
}

function arm(point: string, at: number): void {
  let passed = 0;
  const pass = () => {
    passed += 1;
    if (passed === at) crash();
  };
  const { evalsha } = RespClient.prototype;
  const armed: ScriptClient["evalsha"] = async function (this: RespClient, sha, ...rest) {
    const script = sha === admit.sha ? "admit" : sha === settle.sha ? "settle" : null;
    if (script === null || !point.endsWith(script)) return await evalsha.call(this, sha, ...rest);
    if (point.startsWith("before")) pass();
    const reply = evalsha.call(this, sha, ...rest);
    // The client writes what is called in one turn at the end of that turn.
    if (point.startsWith("amid")) setImmediate(pass);
    const answer = await reply;
    if (point.startsWith("after")) pass();
    return answer;
  };
  Object.defineProperty(RespClient.prototype, "evalsha", { value: armed, configurable: true });
}

const [point = "", at = ""] = (process.env.CRASH_AT ?? "").split(":");
if (point !== "") arm(point, Number(at));
