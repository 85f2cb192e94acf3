// Declares the provider without the file around it, which warns of every runtime but Node.
declare module "oidc-provider/lib/provider.js" {
  export { Provider } from "oidc-provider";
}
