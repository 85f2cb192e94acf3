// Signs up a person of the console, as a browser would on a machine that shows its mails.

const PASSWORD = "a long password of the bench";

export interface SignedUp {
  readonly account: string;
  /** The headers of this person's requests. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Answer {
  readonly development?: { readonly link: string };
  readonly accounts?: readonly { readonly id: string }[];
}

/** A new person and the account they get. */
export async function signUp(base: string, email: string): Promise<SignedUp> {
  const json = { "content-type": "application/json", origin: base };
  const post = async (path: string, body: object) => {
    const init = { method: "POST", headers: json, body: JSON.stringify(body) };
    const response = await fetch(`${base}/console/auth${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const asked = await post("/sign-up/email", { email, name: "Bench", password: PASSWORD });
  const { development } = (await asked.json()) as Answer;
  const token = new URLSearchParams(new URL(development?.link ?? "").hash.slice(1)).get("token");
  const verified = await post("/sign-up/verify", { token });
  const cookie = verified.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const me = await fetch(`${base}/console/api/me`, { headers: { cookie } });
  const { accounts = [] } = (await me.json()) as Answer;
  const [first] = accounts;
  if (first === undefined) throw new Error("A new person has no account");
  return { account: first.id, headers: { ...json, cookie } };
}
