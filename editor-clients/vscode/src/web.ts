// The extension in a browser without a machine behind it, such as vscode.dev: colours, and a message why there is no more.

import * as vscode from "vscode";

const MESSAGE =
  "hlo-analyzer has colours, brackets and folds here. Maps, kernels and warnings need its server, which runs on a machine: " +
  "open this folder in VS Code on the desktop, in a codespace or over SSH.";
const SHOWN = "hlo-analyzer.web.shown";

export function activate(context: vscode.ExtensionContext): void {
  const extension = context.extension.packageJSON as { contributes: { commands: { command: string }[] } };
  const say = (): void => void vscode.window.showInformationMessage(MESSAGE);
  // A command that does not exist would be an error of VS Code's.
  for (const { command } of extension.contributes.commands) {
    context.subscriptions.push(vscode.commands.registerCommand(command, say));
  }
  const sayOnce = (document: vscode.TextDocument): void => {
    const isOurs = document.languageId === "hlo" || document.languageId === "mlir";
    if (isOurs && context.globalState.get(SHOWN) !== true) {
      void context.globalState.update(SHOWN, true);
      say();
    }
  };
  vscode.workspace.textDocuments.forEach(sayOnce);
  context.subscriptions.push(vscode.workspace.onDidOpenTextDocument(sayOnce));
}
