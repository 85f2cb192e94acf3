// Texts of the playground.

export const playgroundTexts = {
  about: "Real calls with real prices, paid from this balance.",
};
