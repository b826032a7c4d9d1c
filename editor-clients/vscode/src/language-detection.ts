import * as vscode from "vscode";
import { offerToReopen } from "./large-files";

/**
 * Switches plain text whose first line starts with `HloModule` to HLO, whatever the file name.
 *
 * The `firstLine` of the language contribution is not enough: VS Code uses it only if the file name decides
 * nothing, but `.txt`, the ending of most XLA dumps, means plain text.
 */
export function switchHloDocuments(): vscode.Disposable {
  const switched = new Set<string>();

  const look = (document: vscode.TextDocument): void => {
    const uri = document.uri.toString();
    // Only once: a user who sets the language back to plain text means it.
    if (!isHloInPlainText(document) || switched.has(uri)) {
      return;
    }
    switched.add(uri);
    void vscode.languages.setTextDocumentLanguage(document, "hlo").then(offerToReopen);
  };

  const forget = (closed: vscode.TextDocument): void => {
    const uri = closed.uri.toString();
    // A change of language also closes the document, and reopens it immediately.
    setTimeout(() => {
      const open = vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri);
      if (!open) {
        switched.delete(uri);
      }
    }, 0);
  };

  vscode.workspace.textDocuments.forEach(look);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidCloseTextDocument(forget),
  );
}

function isHloInPlainText(document: vscode.TextDocument): boolean {
  const { scheme } = document.uri;
  return (
    document.languageId === "plaintext" &&
    (scheme === "file" || scheme === "untitled") &&
    /^HloModule\b/.test(document.lineAt(0).text)
  );
}
