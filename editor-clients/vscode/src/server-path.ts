import { accessSync, chmodSync, constants, existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";
import { configuredServerPath } from "./settings";

const PROGRAM = process.platform === "win32" ? "hlo-analyzer.exe" : "hlo-analyzer";

/** The server program and where it was found, or a message that there is none. */
export type ServerPath =
  | { path: string; from: "the extension" | "the settings" | "PATH" }
  | { problem: string };

/** Searches the extension, then the settings, then PATH. */
export function findServer(context: vscode.ExtensionContext): ServerPath {
  const inside = context.asAbsolutePath(join("server", PROGRAM));
  if (existsSync(inside)) {
    makeExecutable(inside);
    return { path: inside, from: "the extension" };
  }

  const configured = configuredServerPath();
  if (configured !== undefined) {
    const path = configured.startsWith("~/") ? join(homedir(), configured.slice(2)) : configured;
    // An error rather than a fallback: a server other than the configured one would be hard to notice.
    return isProgram(path)
      ? { path, from: "the settings" }
      : { problem: `The setting hlo-analyzer.server.path names “${configured}”, which is not a program.` };
  }

  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, PROGRAM);
    if (folder !== "" && isProgram(path)) {
      return { path, from: "PATH" };
    }
  }
  return {
    problem:
      "The hlo-analyzer server was not found: this package has none inside, the setting " +
      "hlo-analyzer.server.path is empty, and there is none on PATH. Install it with " +
      "“cargo xtask install” in a clone of the project, or name the program in the settings.",
  };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Restores the executable bit, which some ways of unpacking an extension lose. */
function makeExecutable(path: string): void {
  if (!isProgram(path)) {
    try {
      chmodSync(path, 0o755);
    } catch {
      // Starting the server will fail with a message that includes the path.
    }
  }
}
