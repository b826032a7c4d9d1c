import { accessSync, chmodSync, constants, existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";
import { configuredServerPath } from "./settings";

const PROGRAM = process.platform === "win32" ? "hlo-analyzer.exe" : "hlo-analyzer";

/** Where the server program is, or in words why there is none. */
export type ServerPath =
  | { path: string; from: "the extension" | "the settings" | "PATH" }
  | { problem: string };

/** Looks inside the extension, then in the settings, then on PATH. */
export function findServer(context: vscode.ExtensionContext): ServerPath {
  const inside = context.asAbsolutePath(join("server", PROGRAM));
  if (existsSync(inside)) {
    makeExecutable(inside);
    return { path: inside, from: "the extension" };
  }

  const configured = configuredServerPath();
  if (configured !== undefined) {
    const path = configured.startsWith("~/") ? join(homedir(), configured.slice(2)) : configured;
    // Said and not passed over: with another server than the named one, the user would look for long.
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

/** Some ways of unpacking an extension lose the file mode. */
function makeExecutable(path: string): void {
  if (!isProgram(path)) {
    try {
      chmodSync(path, 0o755);
    } catch {
      // Starting it will fail then, and say so with the path.
    }
  }
}
