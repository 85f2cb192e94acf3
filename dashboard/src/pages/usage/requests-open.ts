// Opens a request on the page of requests, from anywhere.

import { useNavigate } from "@tanstack/react-router";

export function useOpenRequest(account: string): (id: string) => void {
  const navigate = useNavigate();
  return (id) =>
    void navigate({ to: "/$account/requests", params: { account }, search: { open: id } });
}
