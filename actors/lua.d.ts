declare module "*.lua" {
  const source: string;
  export = source;
}
