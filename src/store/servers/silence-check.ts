// Asks on another connection whether Postgres still has one on which nothing comes back: a long
// statement is silent, and so is a machine that is gone.

import postgres from "postgres";
import { isAnswered } from "./sql-errors.ts";

const TRIES = 2;
const IDLE_SECONDS = 1;

export interface SilenceCheck {
  /**
   * Resolves to false if Postgres has no process of this id any more, or does not answer at all.
   * Through a pooler, whose ids are its own, any answer counts.
   */
  isServed(pid: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Connects when it is asked, and gives each of two tries up after `answerSeconds`. */
export function openSilenceCheck(
  url: string,
  { answerSeconds, isPooled }: { readonly answerSeconds: number; readonly isPooled: boolean },
): SilenceCheck {
  const settings = {
    max: 1,
    prepare: false,
    fetch_types: false,
    onnotice: () => {},
    backoff: () => 0,
    idle_timeout: IDLE_SECONDS,
    connect_timeout: answerSeconds,
    silence_timeout: answerSeconds,
  };
  const sql = postgres(url, settings);
  const ask = async (pid: number): Promise<boolean> => {
    const rows = await sql`SELECT 1 FROM pg_stat_activity WHERE pid = ${pid}`;
    return rows.length > 0 || isPooled;
  };
  return {
    async isServed(pid) {
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        try {
          return await ask(pid);
        } catch (error) {
          // Postgres has no connection left for this question, or is starting: that is no silence.
          if (isAnswered(error)) return true;
        }
      }
      return false;
    },
    close: () => sql.end({ timeout: 0 }),
  };
}
