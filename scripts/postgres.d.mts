// The types of postgres.mjs for the tests.

import type { Service } from "./redis.mjs";

export interface PostgresOptions {
  home: string;
  port?: number;
  durable?: boolean;
  progress?: (line: string) => void;
}

export function startPostgres(options: PostgresOptions): Promise<Service>;
