import * as vscode from "vscode";
import { COMPILE } from "./client-commands";
import { fileOf } from "./place";
import type { Server } from "./server";
import { SECTION } from "./settings";

/** The response of `hlo-analyzer/compileWithXla`. */
type Compiled =
  | { module: string; folder: string }
  | {
      reason: string;
      /** The setting that would help, without the name of the extension; null if none would. */
      setting: string | null;
    };

const OPEN_SETTINGS = "Open Settings";

/** Compiles the module in front with the XLA of a local Python. `show` puts the dump's folder into the view of compiles. */
export function registerCompileWithXla(server: Server, show: (folder: vscode.Uri) => Promise<void>): vscode.Disposable {
  const compile = async (given?: unknown): Promise<string | undefined> => {
    const file = await fileOf(server, given);
    if (file === undefined) {
      return undefined;
    }
    const title = `XLA compiles ${file.path.split("/").pop() ?? "the module"}`;
    const location = vscode.ProgressLocation.Notification;
    const params = { textDocument: { uri: file.toString() } };
    const answer = await vscode.window.withProgress({ location, title, cancellable: true }, (_, token) =>
      server.request<Compiled>("hlo-analyzer/compileWithXla", params, token),
    );
    if (answer === undefined) {
      return undefined;
    }
    if (answer === null) {
      void vscode.window.showInformationMessage("The server has not read this module: save it to a file, and compile that.");
      return undefined;
    }
    if ("reason" in answer) {
      void tell(answer.reason, answer.setting);
      return undefined;
    }
    await vscode.window.showTextDocument(vscode.Uri.parse(answer.module), { preview: false });
    await show(vscode.Uri.parse(answer.folder));
    return answer.module;
  };
  return vscode.commands.registerCommand(COMPILE, compile);
}

async function tell(reason: string, setting: string | null): Promise<void> {
  const choice = await vscode.window.showErrorMessage(`hlo-analyzer: ${reason}`, ...(setting === null ? [] : [OPEN_SETTINGS]));
  if (choice === OPEN_SETTINGS) {
    await vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.${setting}`);
  }
}
