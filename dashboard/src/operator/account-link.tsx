// The id of an account, which leads to its page.

import { Go } from "./go.tsx";

export function AccountLink({ account }: { readonly account: string | null }) {
  if (account === null) return "–";
  return (
    <Go to={`/${account}`} className="mono tiny">
      {account}
    </Go>
  );
}
