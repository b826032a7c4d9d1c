import * as vscode from "vscode";
import { SHOW_ACCESS_PATTERN } from "./client-commands";
import { placeOf, type Position } from "./place";
import type { Server } from "./server";

/** The response of `hlo-analyzer/accessPattern`. */
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

type Ask = (choice: Choice) => Promise<AccessPattern | null | undefined>;

/** Draws the lanes of a warp on memory, in one panel that is reused. */
export function registerAccessPattern(server: Server): vscode.Disposable {
  let panel: vscode.WebviewPanel | undefined;
  let ask: Ask | undefined;
  const show = (pattern: AccessPattern): void => {
    if (panel === undefined) {
      const options = { enableScripts: true };
      panel = vscode.window.createWebviewPanel("hlo-analyzer.accessPattern", pattern.title, vscode.ViewColumn.Beside, options);
      panel.onDidDispose(() => (panel = undefined));
      panel.webview.onDidReceiveMessage(async (choice: Choice) => {
        const other = await ask?.(choice);
        if (other) {
          show(other);
        }
      });
    }
    panel.title = pattern.title;
    panel.webview.html = page(pattern);
  };
  const command = vscode.commands.registerCommand(SHOW_ACCESS_PATTERN, async (uri?: unknown, at?: Position) => {
    const place = await placeOf(server, uri, at);
    if (place === undefined) {
      return;
    }
    const params = { textDocument: { uri: place.uri }, position: place.position };
    const asked: Ask = (choice) => server.request("hlo-analyzer/accessPattern", { ...params, ...choice });
    const pattern = await asked({});
    if (pattern === null) {
      void vscode.window.showInformationMessage("No kernel with known accesses at this place.");
    } else if (pattern !== undefined) {
      ask = asked;
      show(pattern);
      panel?.reveal(undefined, true);
    }
  });
  return vscode.Disposable.from(command, { dispose: () => panel?.dispose() });
}

const STYLE = `
body { padding: 12px 16px; color: var(--vscode-foreground); font: var(--vscode-font-size) var(--vscode-font-family); }
.choices { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
label { display: inline-flex; gap: 6px; align-items: center; }
.of { color: var(--vscode-descriptionForeground); }
select, input {
  color: var(--vscode-input-foreground); background: var(--vscode-input-background);
  border: 1px solid var(--vscode-input-border, var(--vscode-contrastBorder, transparent)); border-radius: 2px;
  padding: 2px 4px; font: inherit;
}
select {
  color: var(--vscode-dropdown-foreground); background: var(--vscode-dropdown-background);
  border-color: var(--vscode-dropdown-border, transparent);
}
input { width: 6em; }
select:focus, input:focus { outline: 1px solid var(--vscode-focusBorder); }
.summary { line-height: 1.5; max-width: 60em; }
.picture { overflow-x: auto; }
`;

function page(pattern: AccessPattern): string {
  const nonce = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  const option = (name: string, at: number) =>
    `<option value="${at}"${at === pattern.array ? " selected" : ""}>${escaped(name)}</option>`;
  // Counts from 1, like the caption of the picture.
  const number = (name: "block" | "warp" | "iteration", count: number) =>
    `<label>${name} <input id="${name}" type="number" min="1" max="${count}" value="${pattern[name] + 1}"> ` +
    `<span class="of">of ${count}</span></label>`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">
<style>${STYLE}</style>
</head>
<body>
<div class="choices">
<label>array <select id="array">${pattern.arrays.map(option).join("")}</select></label>
${number("block", pattern.blocks)} ${number("warp", pattern.warps)} ${number("iteration", pattern.iterations)}
</div>
<p class="summary">${escaped(pattern.summary)}</p>
<div class="picture">${pattern.svg}</div>
<script nonce="${nonce}">
const editor = acquireVsCodeApi();
const value = (name) => Number(document.getElementById(name).value) || 0;
const names = ["array", "block", "warp", "iteration"];
const choice = () => Object.fromEntries(names.map((name) => [name, name === "array" ? value(name) : Math.max(0, value(name) - 1)]));
for (const name of names) {
  document.getElementById(name).addEventListener("change", () => editor.postMessage(choice()));
}
</script>
</body>
</html>`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
