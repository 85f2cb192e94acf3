// Keeps a process of `npm start` running: if it dies, it is started again after a growing delay; if
// it keeps dying, it is given up.

import { setTimeout as delay } from "node:timers/promises";

/**
 * @typedef {import("./processes.mjs").Child} Child
 * @typedef {import("./processes.mjs").Exit} Exit
 *
 * @typedef {object} Supervised
 * @property {string} name
 * @property {() => Promise<void>} running resolves once it runs, or is given up or stopped
 * @property {(timeoutMs?: number) => Promise<void>} stop ends it and does not start it again
 *
 * @typedef {object} SupervisorOptions
 * @property {string} name
 * @property {Child} child the process as it runs now
 * @property {(signal: AbortSignal) => Promise<Child>} start starts it again; rejects if it cannot
 * @property {() => boolean} mayRestart false: the first death ends everything
 * @property {(line: string) => void} say
 * @property {(exit: Exit | null, why: string) => void} giveUp called once
 * @property {() => number} [now] the time, in ms
 * @property {(ms: number, signal: AbortSignal) => Promise<void>} [pause] resolves also when stopped
 */

/** A process that dies this often within this time is given up. */
export const DEATHS_MAX = 5;
const WITHIN_MS = 60_000;
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 10_000;

/**
 * Watches a process until it is stopped or given up.
 * @param {SupervisorOptions} options
 * @returns {Supervised}
 */
export function supervise(options) {
  const {
    name,
    start,
    mayRestart,
    say,
    giveUp,
    now = Date.now,
    pause = pauseUnlessStopped,
  } = options;
  const stopped = new AbortController();
  let current = options.child;
  let running = Promise.resolve();
  let deathsMs = /** @type {number[]} */ ([]);

  const watch = () => {
    current.exited.then((exit) => {
      if (!stopped.signal.aborted) running = revive(exit, `${name} ended by ${causeOf(exit)}`);
    });
  };

  /**
   * @param {Exit | null} exit
   * @param {string} what
   */
  const revive = async (exit, what) => {
    for (let why = what; !stopped.signal.aborted; ) {
      deathsMs = [...deathsMs.filter((ms) => ms > now() - WITHIN_MS), now()];
      const deaths = deathsMs.length;
      if (!mayRestart()) return giveUp(exit, `${why}.`);
      if (deaths >= DEATHS_MAX) {
        return giveUp(exit, `${why}, the ${DEATHS_MAX}th time within a minute: giving up.`);
      }
      const pauseMs = Math.min(PAUSE_MS_MIN * 2 ** (deaths - 1), PAUSE_MS_MAX);
      say(`${why}; starting it again in ${pauseMs / 1000} s (${deaths} of ${DEATHS_MAX}).`);
      await pause(pauseMs, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        current = await start(stopped.signal);
      } catch (error) {
        why = `${name} could not be started (${error instanceof Error ? error.message : error})`;
        continue;
      }
      say(`${name} runs again.`);
      return watch();
    }
  };

  watch();
  return {
    name,
    running: () => running,
    stop: async (timeoutMs) => {
      stopped.abort();
      await running;
      await current.stop(timeoutMs);
    },
  };
}

/**
 * Resolves once the signal is aborted.
 * @param {AbortSignal} signal
 */
export function aborted(signal) {
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/**
 * Returns the cause of a process's end, in words.
 * @param {Exit} exit
 */
export function causeOf({ code, signal }) {
  return signal ?? `exit code ${code}`;
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 */
async function pauseUnlessStopped(ms, signal) {
  await delay(ms, undefined, { signal }).catch((error) => {
    if (!signal.aborted) throw error;
  });
}
