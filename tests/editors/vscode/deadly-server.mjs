// Stands in for a server that a file kills: passes everything on to the real one, and dies when the text arrives that names it.
//
//   node deadly-server.mjs SERVER TEXT ARGUMENTS…

import { spawn } from "node:child_process";

const [server, text, ...rest] = process.argv.slice(2);
const real = spawn(server, rest, { stdio: ["pipe", "inherit", "inherit"] });
let tail = "";
process.stdin.on("data", (part) => {
  tail = (tail + part.toString("latin1")).slice(-(part.length + text.length));
  if (tail.includes(text)) {
    real.kill("SIGKILL");
    process.kill(process.pid, "SIGKILL");
  }
  real.stdin.write(part);
});
process.stdin.on("end", () => real.stdin.end());
real.on("exit", (code) => process.exit(code ?? 1));
