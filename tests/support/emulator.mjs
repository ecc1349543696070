// Runs emulate as GitHub until standard input ends. First line in: { module, seed }; out: { url }.
import { createInterface } from "node:readline";

// GitHub's times have whole seconds; a client that asks `since` a time depends on it.
const whole = Date.prototype.toISOString;
Date.prototype.toISOString = function () {
  return whole.call(this).replace(/\.\d+Z$/, "Z");
};

const lines = createInterface({ input: process.stdin });
lines.once("line", async (line) => {
  const { module, seed } = JSON.parse(line);
  const { createEmulator } = await import(module);
  const { url } = await createEmulator({ service: "github", port: 0, seed });
  process.stdout.write(JSON.stringify({ url }) + "\n");
});
lines.once("close", () => process.exit(0));
