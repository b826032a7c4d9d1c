import * as vscode from "vscode";
import { switchHloDocuments } from "./language-detection";
import { registerAccessPattern } from "./access-pattern";
import { registerFunctionColours } from "./function-colours";
import { registerHeaviestKernels } from "./heaviest-kernels";
import { Server } from "./server";
import { registerShowReferences } from "./show-references";
import { registerStatus } from "./status";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("hlo-analyzer", { log: true });
  const running = new Server(context, log);
  server = running;

  context.subscriptions.push(
    log,
    running,
    vscode.commands.registerCommand("hlo-analyzer.restartServer", () => running.restart()),
    vscode.commands.registerCommand("hlo-analyzer.serverVersion", () => running.showVersion()),
    vscode.commands.registerCommand("hlo-analyzer.showLog", () => log.show()),
    registerShowReferences(),
    registerAccessPattern(running),
    registerFunctionColours(running),
    registerHeaviestKernels(running),
    registerStatus(running),
    switchHloDocuments(),
    // The extension is also awake for plain text, to look at first lines; the server starts with the first HLO.
    vscode.workspace.onDidOpenTextDocument((document) => startFor(document, running)),
  );
  for (const document of vscode.workspace.textDocuments) {
    startFor(document, running);
  }
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

function startFor(document: vscode.TextDocument, running: Server): void {
  if (document.languageId === "hlo" || document.languageId === "mlir") {
    void running.start();
  }
}
