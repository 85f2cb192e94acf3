// Defines the kinds of values that environment variables have.

import { createPrivateKey } from "node:crypto";
import { checkNetworks } from "../core/access/networks.ts";
import { type NanoUsd, type PicoUsd, price, usd } from "../core/money/money.ts";
import { isRedisSocket, parseRedisSocket } from "../core/redis-socket.ts";
import type { SecretList } from "../core/secrets.ts";
import { thrownMessage } from "../core/text/error-message.ts";
import { asciiDomain } from "../core/text/mail-address.ts";
import { parseRelay, type RelayAddress } from "../services/mail/smtp-relay.ts";
import type { Kind } from "./environment.ts";

const SECRET_LENGTH_MIN = 16;

export const anyText: Kind<string> = { parse: (text) => text };

const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;

export const flag: Kind<boolean> = {
  range: "`true` or `false`",
  parse: (text) => choice(["true", "false"]).parse(text) === "true",
};

/** A whole number within bounds, both included. */
export function whole(min: number, max: number): Kind<number> {
  return {
    range: `${min} to ${max}`,
    parse(text) {
      const value = Number(text);
      if (/^\d+$/.test(text) && value >= min && value <= max) return value;
      throw new RangeError(`must be a whole number from ${min} to ${max}`);
    },
  };
}

/** A time in whole seconds, read as milliseconds. */
export function seconds(min: number, max: number): Kind<number> {
  const { parse } = whole(min, max);
  return { range: `${min} to ${max}`, parse: (text) => parse(text) * 1000 };
}

export function choice<const T extends string>(values: readonly T[]): Kind<T> {
  return {
    range: values.map((value) => `\`${value}\``).join(", "),
    parse(text) {
      const value = values.find((candidate) => candidate === text);
      if (value !== undefined) return value;
      throw new RangeError(`must be one of ${values.join(", ")}`);
    },
  };
}

/** An amount of USD that is not negative. */
export const amount: Kind<NanoUsd> = {
  parse(text) {
    try {
      const value = usd(text);
      if (value >= 0n) return value;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    throw new RangeError("must be an amount of USD such as 1.50");
  },
};

/** A price in USD for 1,000 things. */
export const pricePerThousand: Kind<PicoUsd> = {
  parse(text) {
    if (/^\d{1,4}(\.\d{1,6})?$/.test(text)) return price(text, 1_000);
    throw new RangeError(
      "must be an amount of USD below 10000 such as 0.10, with at most 6 decimals",
    );
  },
};

/** A percentage with at most two decimals, read in hundredths of a percent. */
export const percentage: Kind<number> = {
  range: "0 to 100",
  parse(text) {
    const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text);
    const value = match === null ? Number.NaN : Number(match[1] + (match[2] ?? "").padEnd(2, "0"));
    if (value <= 10_000) return value;
    throw new RangeError("must be a percentage such as 2.9, from 0 to 100");
  },
};

/** A domain, read in its ASCII form. */
export const domain: Kind<string> = {
  parse(text) {
    const ascii = asciiDomain(text);
    if (ascii === null) throw new RangeError("must be a domain");
    return ascii;
  },
};

/** Names of hosts without ports, joined with commas, in lower case. */
export const hostNames: Kind<readonly string[]> = {
  parse(text) {
    const names = text.split(",").map((name) => name.trim().toLowerCase());
    const given = names.filter((name) => name !== "");
    const wrong = given.find((name) => !HOST_NAME.test(name));
    if (wrong !== undefined) throw new RangeError(`must be names of hosts; '${wrong}' is none`);
    return Object.freeze(given);
  },
};

/** Addresses and CIDR blocks, joined with commas. */
export const addresses: Kind<readonly string[]> = {
  parse(text) {
    const entries = text.split(",").map((entry) => entry.trim());
    const given = entries.filter((entry) => entry !== "");
    // A list without an entry would mean the opposite of its purpose: all addresses.
    if (given.length === 0 && text !== "") {
      throw new RangeError("must hold at least one address or CIDR block");
    }
    try {
      checkNetworks(given);
    } catch (error) {
      const problem = thrownMessage(error);
      throw new RangeError(`must be addresses and CIDR blocks (${problem})`);
    }
    return Object.freeze(given);
  },
};

/** Secrets joined with commas, the current one first. */
export const secretList: Kind<SecretList> = {
  parse(text) {
    const [current = "", ...previous] = text.split(",");
    if ([current, ...previous].some((value) => value.length < SECRET_LENGTH_MIN)) {
      const each = previous.length > 0 ? " in each secret of its list" : "";
      throw new RangeError(`must have at least ${SECRET_LENGTH_MIN} characters${each}`);
    }
    return Object.freeze([current, ...previous] as const);
  },
};

/** An API key; its service decides whether the key is valid. */
export const apiKey: Kind<string> = {
  parse(text) {
    if (/^[!-~]{1,200}$/.test(text)) return text;
    throw new RangeError("must be an API key, such as svc_live_…");
  },
};

export const webAddress: Kind<URL> = {
  parse(text) {
    const url = URL.parse(text);
    if (url !== null && /^https?:$/.test(url.protocol)) return url;
    throw new RangeError("must be an address such as https://example.com");
  },
};

/** Matches one server of Postgres or several, which a standard URL cannot name. */
const POSTGRES_HOSTS = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?[^/?,]*)(,[^/?]*)?/;

export const postgresAddress: Kind<string> = {
  parse(text) {
    const hosts = POSTGRES_HOSTS.exec(text);
    const url = hosts && URL.parse(text.replace(POSTGRES_HOSTS, "$1"));
    if (!url) {
      throw new RangeError("must be an address such as postgres://user:password@host:5432/farebox");
    }
    const wanted = url.searchParams.get("target_session_attrs");
    if (hosts[2] !== undefined && wanted !== "read-write" && wanted !== "primary") {
      throw new RangeError(
        "names several servers, so it must have target_session_attrs=read-write",
      );
    }
    return decodable(text);
  },
};

/** Matches a bare path of a socket, or the socket scheme of another program. */
const OTHER_SOCKET = /^(?:[./~]|[\w+.-]*(?:unix|sock)[\w+.-]*:)/i;

/** Accepts the forms that store/servers/redis-url.ts reads, which checks the rest. */
export const redisAddress: Kind<string> = {
  parse(text) {
    if (/^rediss?(?:\+(?:cluster|sentinel))?:\/\/./.test(text)) return decodable(text);
    if (isRedisSocket(text)) {
      parseRedisSocket(text);
      return text;
    }
    if (OTHER_SOCKET.test(text)) {
      throw new RangeError("must be an address such as unix:///path/to/redis.sock");
    }
    throw new RangeError("must be an address such as redis://:password@host:6379");
  },
};

/** The mail server, as smtp-relay.ts reads it. */
export const mailServer: Kind<RelayAddress> = { parse: (text) => parseRelay(decodable(text)) };

/** An address whose user and password can be decoded. */
function decodable(text: string): string {
  try {
    decodeURIComponent(text);
    return text;
  } catch {
    throw new RangeError("must have %25 for a '%' in its user or password");
  }
}

/** With any other key the mail library would send mail without a signature. */
export const rsaKey: Kind<string> = {
  parse(text) {
    try {
      if (createPrivateKey(text).asymmetricKeyType === "rsa") return text;
    } catch {
      // The error's own message may quote the key.
    }
    throw new RangeError("must hold an RSA private key without a passphrase as PEM");
  },
};

export const dkimSelector: Kind<string> = {
  parse(text) {
    if (/^[A-Za-z0-9-]{1,63}$/.test(text)) return text;
    throw new RangeError("must be letters, digits and '-', such as 'mail2026'");
  },
};
