import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { fileOf } from "./place";
import type { Server } from "./server";
import { findServer } from "./server-path";
import { serverSettings } from "./settings";

/** The URI scheme of reports. The query holds the paths of both compiles. */
const SCHEME = "hlo-analyzer-diff";

/** A report longer than this is cut. */
const MAX_BYTES = 16 << 20;

/** Compares the module of the active editor with one of another compile, which the user picks. The report opens beside it. */
export function registerCompareCompiles(server: Server, context: vscode.ExtensionContext): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const provider = vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    onDidChange: changed.event,
    provideTextDocumentContent: (uri, token) => report(context, pathsOf(uri), token),
  });
  const links = vscode.languages.registerDocumentLinkProvider(
    { scheme: SCHEME },
    { provideDocumentLinks: (document) => linksOf(document, pathsOf(document.uri)) },
  );

  const compare = async (given?: unknown, other?: unknown): Promise<string | undefined> => {
    const after = await fileOf(server, given);
    if (after === undefined) {
      return undefined;
    }
    if (after.scheme !== "file") {
      void vscode.window.showInformationMessage("Only files on disk can be compared: save the module first.");
      return undefined;
    }
    const before = other instanceof vscode.Uri ? other : await pick(after);
    if (before === undefined) {
      return undefined;
    }
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === after.toString());
    if (document?.isDirty) {
      void vscode.window.showInformationMessage("The comparison is of the saved text, without the last edits.");
    }
    const query = JSON.stringify([before.fsPath, after.fsPath]);
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${nameOf(before)} and ${nameOf(after)}.txt`, query });
    changed.fire(uri);
    const shown = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(shown, { viewColumn: vscode.ViewColumn.Beside });
    return shown.getText();
  };
  return vscode.Disposable.from(
    provider,
    links,
    changed,
    vscode.commands.registerCommand("hlo-analyzer.compareCompiles", compare),
  );
}

async function pick(after: vscode.Uri): Promise<vscode.Uri | undefined> {
  const picked = await vscode.window.showOpenDialog({
    title: `The compile before ${nameOf(after)}`,
    openLabel: "Compare",
    defaultUri: vscode.Uri.joinPath(after, ".."),
    filters: { "HLO and MLIR": ["hlo", "txt", "mlir", "gz"], "All files": ["*"] },
  });
  return picked?.[0];
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.split("/").pop() ?? "module";
}

function pathsOf(uri: vscode.Uri): string[] {
  const paths: unknown = JSON.parse(uri.query);
  return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
}

/** The output of `diff`, with its errors in front. */
function report(
  context: vscode.ExtensionContext,
  paths: string[],
  token: vscode.CancellationToken,
): Promise<string> {
  const found = findServer(context);
  if ("problem" in found) {
    return Promise.resolve(found.problem);
  }
  const options = ["--top", "200", "--device", serverSettings().gpu.device];
  return new Promise((resolve) => {
    const run = execFile(
      found.path,
      ["diff", ...options, "--", ...paths],
      { maxBuffer: MAX_BYTES },
      (error, stdout, stderr) => {
        const failed = error !== null && stdout === "" && stderr === "" ? String(error) : "";
        resolve([stderr, failed, stdout].filter((text) => text !== "").join("\n"));
      },
    );
    token.onCancellationRequested(() => run.kill());
  });
}

/** `PATH:LINE:COLUMN` opens the file there. */
function linksOf(document: vscode.TextDocument, paths: string[]): vscode.DocumentLink[] {
  const text = document.getText();
  return paths.flatMap((path) => {
    const links: vscode.DocumentLink[] = [];
    for (let at = text.indexOf(`${path}:`); at >= 0; at = text.indexOf(`${path}:`, at + 1)) {
      const place = /^:(\d+):(\d+)/.exec(text.slice(at + path.length, at + path.length + 24));
      if (place) {
        const range = new vscode.Range(
          document.positionAt(at),
          document.positionAt(at + path.length + place[0].length),
        );
        const target = vscode.Uri.file(path).with({ fragment: `L${place[1]},${place[2]}` });
        links.push(new vscode.DocumentLink(range, target));
      }
    }
    return links;
  });
}
