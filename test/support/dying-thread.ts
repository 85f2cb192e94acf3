// A thread that ends by an error as soon as it is asked for something.

declare const self: Worker;

self.onmessage = () => {
  throw new Error("The thread of a test ends");
};

export {};
