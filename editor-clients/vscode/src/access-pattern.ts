import * as vscode from "vscode";
import type { Server } from "./server";

/** The command of lenses and actions: draws the lanes of a warp on memory. */
export const SHOW_ACCESS_PATTERN = "hlo-analyzer.showAccessPattern";

interface Position {
  line: number;
  character: number;
}

/** The answer of `hlo-analyzer/accessPattern`. */
interface AccessPattern {
  title: string;
  summary: string;
  arrays: string[];
  array: number;
  blocks: number;
  warps: number;
  iterations: number;
  block: number;
  warp: number;
  iteration: number;
  svg: string;
}

interface Choice {
  array?: number;
  block?: number;
  warp?: number;
  iteration?: number;
}

export function registerAccessPattern(server: Server): vscode.Disposable {
  return vscode.commands.registerCommand(SHOW_ACCESS_PATTERN, async (uri?: string, at?: Position) => {
    const editor = vscode.window.activeTextEditor;
    const document = uri ?? editor?.document.uri.toString();
    const position = at ?? editor?.selection.active;
    if (document === undefined || position === undefined) {
      return;
    }
    const ask = (choice: Choice) =>
      server.ask<AccessPattern>("hlo-analyzer/accessPattern", {
        textDocument: { uri: document },
        position: { line: position.line, character: position.character },
        ...choice,
      });
    const pattern = await ask({});
    if (!pattern) {
      void vscode.window.showInformationMessage("No kernel with known accesses at this place.");
      return;
    }
    show(pattern, ask);
  });
}

function show(first: AccessPattern, ask: (choice: Choice) => Promise<AccessPattern | undefined>): void {
  const panel = vscode.window.createWebviewPanel("hlo-analyzer.accessPattern", first.title, vscode.ViewColumn.Beside, {
    enableScripts: true,
  });
  panel.webview.html = page(first);
  panel.webview.onDidReceiveMessage(async (choice: Choice) => {
    const pattern = await ask(choice);
    if (pattern) {
      panel.title = pattern.title;
      panel.webview.html = page(pattern);
    }
  });
}

function page(pattern: AccessPattern): string {
  const nonce = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  const option = (name: string, at: number) =>
    `<option value="${at}"${at === pattern.array ? " selected" : ""}>${escaped(name)}</option>`;
  const number = (name: "block" | "warp" | "iteration", count: number) =>
    `<label>${name} <input id="${name}" type="number" min="0" max="${count - 1}" value="${pattern[name]}"> of ${count}</label>`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">
</head>
<body>
<p>
<label>array <select id="array">${pattern.arrays.map(option).join("")}</select></label>
${number("block", pattern.blocks)} ${number("warp", pattern.warps)} ${number("iteration", pattern.iterations)}
</p>
<p>${escaped(pattern.summary)}</p>
${pattern.svg}
<script nonce="${nonce}">
const editor = acquireVsCodeApi();
const names = ["array", "block", "warp", "iteration"];
const value = (name) => Number(document.getElementById(name).value) || 0;
for (const name of names) {
  document.getElementById(name).addEventListener("change", () =>
    editor.postMessage(Object.fromEntries(names.map((name) => [name, value(name)]))));
}
</script>
</body>
</html>`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
