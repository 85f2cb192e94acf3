// Actions of maps that the playground offers, each with the fields that it needs and an example.

interface Field {
  readonly name: string;
  readonly example: string;
}

const PLACE: readonly Field[] = [
  { name: "lat", example: "52.52437" },
  { name: "lon", example: "13.41053" },
];

export const MAP_ACTIONS = {
  geocode: [{ name: "query", example: "Köln" }],
  reverse: PLACE,
  site_image: [...PLACE, { name: "zoom", example: "8" }],
  poi: [...PLACE, { name: "radius", example: "2000" }],
  weather: PLACE,
} as const satisfies Readonly<Record<string, readonly Field[]>>;

export type MapAction = keyof typeof MAP_ACTIONS;
