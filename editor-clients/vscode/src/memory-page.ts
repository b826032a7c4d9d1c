// The page of "Show Memory": an area per kind of memory over the schedule, and what is alive at the peak.

import type { Webview } from "vscode";
import type { Position } from "./place";

interface Range {
  start: Position;
  end: Position;
}

export interface Step {
  name: string;
  range: Range;
  op_name: string | null;
  source: { file: string; line: number } | null;
}

/** What the page uses of the response of `hlo-analyzer/memoryTimeline`. */
export interface MemoryTimeline {
  module: string;
  /** Which of XLA's schedulers orders a module that is not scheduled. */
  order: string | null;
  total_bytes: number;
  positions: number;
  kinds: string[];
  columns: { first: number; position: number; bytes: number[]; step: Step | null }[];
  at_peak: {
    position: number;
    bytes: number;
    values: { name: string; bytes: number; kind: string; live: [number, number]; until: Step | string; defined: Step | null }[];
  };
  omitted: number;
  problems: string[];
  summary: string;
  svg: string;
}

/** What the page uses of the response of `hlo-analyzer/memoryAdvice`. */
export interface MemoryAdvice {
  advice: { text: string; in_jax: string | null; changed: Step | null }[];
}

/** What the extension tells the page. There is no advice yet when a timeline is drawn first. */
export type PageContent = { timeline: MemoryTimeline } | MemoryAdvice;

/** What the page tells the extension. */
export type PageMessage = { kind: "ready" } | { kind: "save" } | { kind: "go"; range: Range };

const STYLE = `
body { padding: 12px 16px; color: var(--vscode-foreground); font: var(--vscode-font-size) var(--vscode-font-family); }
.bar { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; }
button {
  color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground);
  border: 1px solid var(--vscode-button-border, transparent); border-radius: 2px; padding: 3px 10px; font: inherit; cursor: pointer;
}
button:focus, svg:focus, a:focus { outline: 1px solid var(--vscode-focusBorder); }
svg { display: block; width: 100%; height: 320px; margin: 10px 0 4px; cursor: crosshair; touch-action: none; }
svg text { font-size: 11px; fill: var(--vscode-descriptionForeground); }
.grid { stroke: var(--vscode-descriptionForeground); stroke-opacity: 0.3; }
.peak { stroke: var(--vscode-charts-red); stroke-width: 1.5; stroke-dasharray: 4 3; }
.at { stroke: var(--vscode-foreground); }
.k0 { fill: var(--vscode-charts-purple); background: var(--vscode-charts-purple); }
.k1 { fill: var(--vscode-charts-yellow); background: var(--vscode-charts-yellow); }
.k2 { fill: var(--vscode-charts-green); background: var(--vscode-charts-green); }
.k3 { fill: var(--vscode-charts-blue); background: var(--vscode-charts-blue); }
.k4 { fill: var(--vscode-charts-orange); background: var(--vscode-charts-orange); }
.box { display: inline-block; width: 10px; height: 10px; margin-right: 5px; }
#here { min-height: 1.4em; }
.faint { color: var(--vscode-descriptionForeground); }
table { border-collapse: collapse; margin-top: 10px; }
caption { text-align: left; font-weight: 600; padding: 4px 0; }
th { text-align: left; cursor: pointer; white-space: nowrap; }
th, td { padding: 2px 12px 2px 0; }
td { font-family: var(--vscode-editor-font-family); white-space: nowrap; }
td.number { text-align: right; }
h3 { font-size: inherit; font-weight: 600; margin: 14px 0 4px; }
ul { margin: 0; padding-left: 18px; }
li { padding: 1px 0; }
a { color: var(--vscode-textLink-foreground); cursor: pointer; }
`;

/** `script` is `memory-picture.ts`. */
export function memoryPage({ cspSource }: Webview, script: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src ${cspSource}">
<style>${STYLE}</style>
</head>
<body>
<div id="summary"></div>
<div id="notes" class="faint"></div>
<svg id="picture" tabindex="0" role="img" aria-describedby="summary here"></svg>
<div id="here" aria-live="polite"></div>
<div class="bar"><span id="legend" class="bar"></span>
<button id="in" title="Zoom in (+)">+</button><button id="out" title="Zoom out (-)">−</button>
<button id="all" title="Show the whole schedule (0)">All</button><button id="topeak" title="Go to the peak (p)">Peak</button>
<button id="save">Save as SVG…</button></div>
<div class="faint">Click, or press Enter, to go to the instruction. Arrow keys move; + and − or the wheel zoom; 0 shows all; p is the peak.</div>
<h3 id="advised" hidden>What would lower the peak</h3>
<ul id="advice"></ul>
<table><caption>Alive at the peak</caption><thead><tr><th data-by="bytes">Bytes</th><th data-by="name">Value</th><th data-by="kind">Kind</th><th data-by="since">Alive from</th><th data-by="end">to</th><th>because of</th><th data-by="source">Source</th></tr></thead><tbody id="values"></tbody></table>
<script src="${script}"></script>
</body>
</html>`;
}
