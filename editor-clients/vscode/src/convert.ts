import * as vscode from "vscode";
import { fileOf } from "./place";
import type { Server } from "./server";

/** The URI scheme of documents that show a module in the other language. */
const SCHEME = "hlo-analyzer-converted";

/** The response of `hlo-analyzer/convert`. */
interface Converted {
  language: "hlo" | "mlir";
  text: string;
  incomplete: { range: unknown; message: string }[];
}

/** Shows the module of the active editor in the other language, beside it. The document follows edits. */
export function registerConvert(server: Server): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const shown = new Map<string, vscode.Uri>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = (source: string) =>
    server.ask<Converted>("hlo-analyzer/convert", { textDocument: { uri: source } });
  const provider = vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    onDidChange: changed.event,
    provideTextDocumentContent: async (uri) => (await ask(uri.query))?.text ?? "",
  });
  const edited = vscode.workspace.onDidChangeTextDocument(({ document }) => {
    const uri = shown.get(document.uri.toString());
    if (uri) {
      clearTimeout(timer);
      timer = setTimeout(() => changed.fire(uri), 500);
    }
  });
  const closed = vscode.workspace.onDidCloseTextDocument(({ uri }) => {
    if (uri.scheme === SCHEME) {
      shown.delete(uri.query);
    }
  });
  const convert = async (given?: unknown) => {
    const source = (await fileOf(server, given))?.toString();
    if (source === undefined) {
      return undefined;
    }
    const params = { textDocument: { uri: source } };
    const answer = await server.request<Converted>("hlo-analyzer/convert", params);
    if (answer === undefined) {
      return undefined;
    }
    if (answer === null) {
      void vscode.window.showInformationMessage("There is nothing to convert in this file.");
      return undefined;
    }
    const name = vscode.Uri.parse(source).path.split("/").pop() ?? "module";
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}.converted.${answer.language}`, query: source });
    shown.set(source, uri);
    changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, answer.language);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
    const [first, ...others] = answer.incomplete;
    if (first) {
      const more = others.length > 0 ? ` and ${others.length} more` : "";
      void vscode.window.showWarningMessage(`The conversion is incomplete: ${first.message}${more}`);
    }
    return answer.text;
  };
  return vscode.Disposable.from(
    provider,
    edited,
    closed,
    changed,
    vscode.commands.registerCommand("hlo-analyzer.convertToStablehlo", convert),
    vscode.commands.registerCommand("hlo-analyzer.convertToHlo", convert),
  );
}
