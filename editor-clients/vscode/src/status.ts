import * as vscode from "vscode";
import type { Server, ServerState } from "./server";

/** What the language status of a document says about the server. */
export function registerStatus(server: Server): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem("hlo-analyzer.status", [{ language: "hlo" }, { language: "mlir" }]);
  item.name = "hlo-analyzer";
  const show = (state: ServerState): void => {
    item.busy = state.kind === "starting";
    item.severity = severity(state);
    item.text = state.kind === "running" ? `hlo-analyzer ${state.version}` : `hlo-analyzer: ${state.kind}`;
    item.detail = state.kind === "failed" ? state.problem : undefined;
    item.command = { title: "Restart", command: "hlo-analyzer.restartServer" };
  };
  show(server.state);
  return vscode.Disposable.from(item, server.onDidChangeState(show));
}

function severity(state: ServerState): vscode.LanguageStatusSeverity {
  switch (state.kind) {
    case "failed":
      return vscode.LanguageStatusSeverity.Error;
    case "stopped":
      return vscode.LanguageStatusSeverity.Warning;
    default:
      return vscode.LanguageStatusSeverity.Information;
  }
}
