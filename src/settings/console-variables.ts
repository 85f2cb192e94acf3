// Defines the environment variables of the console, which people sign in to.

import type { Variables } from "./environment.ts";
import { addresses, choice, flag, secretList, webAddress } from "./variable-kinds.ts";

/** The variables of the console. */
export const CONSOLE_VARIABLES = {
  SESSION_SECRET: {
    kind: secretList,
    isSecret: true,
    shown: "made at the first start",
    about:
      "secret of at least 16 characters that the sessions of people are signed " +
      "with; an API process without it serves no console; a list, too",
  },
  CONSOLE_URL: {
    kind: webAddress,
    shown: "where the API listens",
    about: "the origin where people open the dashboard; needed if `HOST` is not this machine",
  },
  CONSOLE_SHOW_MAILS: {
    kind: flag,
    default: "false",
    about:
      "whether answers show the links and codes that were mailed; only for development on this " +
      "machine, where `npm start` sets it while no mail is delivered; refused if `HOST` or " +
      "`CONSOLE_URL` is not of this machine",
  },
  FREE_CREDIT_PER_NETWORK: {
    kind: choice(["once", "unlimited"]),
    default: "once",
    about: "whether people of one network (/24, IPv6 /48) get free credit by sign-up once",
  },
  OPERATOR_ALLOWED_IPS: {
    kind: addresses,
    default: "",
    shown: "every address",
    about:
      "addresses and CIDR blocks, joined with commas, from which operators may use their console " +
      "at `/operator`",
  },
} as const satisfies Variables;
