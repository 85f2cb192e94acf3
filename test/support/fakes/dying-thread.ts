// Throws an error at the thread's first message.

declare const self: Worker;

self.onmessage = () => {
  throw new Error("The thread of a test ends");
};

export {};
