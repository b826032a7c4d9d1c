// Runs in the page of "Show Memory": draws the columns, zooms, and tells the extension where to go.

import type { MemoryAdvice, MemoryTimeline, PageContent, PageMessage, Step } from "./memory-page";

declare function acquireVsCodeApi(): { postMessage(message: PageMessage): void };

type Value = MemoryTimeline["at_peak"]["values"][number];

const extension = acquireVsCodeApi();
const HEIGHT = 320;
/** Around the drawing, in pixels: labels of bytes, of the peak and of positions. */
const [LEFT, RIGHT, TOP, BOTTOM] = [74, 10, 18, 20];
/** The columns that are shown at the highest zoom. */
const FEWEST = 4;

let timeline: MemoryTimeline | undefined;
/** The columns that are shown: from `first`, before `end`. */
let [first, end] = [0, 0];
/** The column that the mouse or the keyboard is on. */
let cursor = 0;
let order: { by: string; down: boolean } = { by: "bytes", down: true };

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`no ${id}`);
  }
  return found;
}

const picture = document.querySelector("svg");

function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let value = count;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toPrecision(3)} ${units[unit]}`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

function sum(counts: number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

function width(): number {
  return Math.max(100, (picture?.clientWidth ?? 0) - LEFT - RIGHT);
}

function x(column: number): number {
  return LEFT + ((column - first) / (end - first)) * width();
}

function peakColumn({ columns, at_peak }: MemoryTimeline): number {
  return Math.max(0, columns.findIndex(({ position }) => position === at_peak.position));
}

function draw(): void {
  if (timeline === undefined || picture === null) {
    return;
  }
  const { columns, kinds, total_bytes, positions } = timeline;
  const inner = HEIGHT - TOP - BOTTOM;
  const y = (count: number): number => TOP + inner - (count / Math.max(1, total_bytes)) * inner;
  const parts: string[] = [];
  for (let quarter = 0; quarter <= 4; quarter++) {
    const count = (total_bytes * quarter) / 4;
    parts.push(`<line class="grid" x1="${LEFT}" x2="${LEFT + width()}" y1="${y(count)}" y2="${y(count)}"/>`);
    parts.push(`<text x="${LEFT - 6}" y="${y(count) + 4}" text-anchor="end">${bytes(count)}</text>`);
  }
  const shown = columns.slice(first, end);
  let below = shown.map(() => 0);
  kinds.forEach((_, kind) => {
    const above = shown.map((column, n) => (below[n] ?? 0) + (column.bytes[kind] ?? 0));
    const tops = above.map((count, n) => `${x(first + n).toFixed(1)} ${y(count).toFixed(1)}H${x(first + n + 1).toFixed(1)}`);
    const bottoms = below.map((count, n) => `${x(first + n + 1).toFixed(1)} ${y(count).toFixed(1)}H${x(first + n).toFixed(1)}`);
    if (shown.some((column) => (column.bytes[kind] ?? 0) > 0)) {
      parts.push(`<path class="k${kind}" d="M${tops.join("L")}L${bottoms.reverse().join("L")}Z"/>`);
    }
    below = above;
  });
  const peak = peakColumn(timeline);
  if (peak >= first && peak < end) {
    const at = x(peak + 0.5);
    const anchor = at > LEFT + width() / 2 ? "end" : "start";
    parts.push(`<line class="peak" x1="${at}" x2="${at}" y1="${TOP - 4}" y2="${HEIGHT - BOTTOM}"/>`);
    parts.push(`<text x="${at}" y="${TOP - 6}" text-anchor="${anchor}">peak</text>`);
  }
  if (cursor >= first && cursor < end) {
    parts.push(`<line class="at" x1="${x(cursor + 0.5)}" x2="${x(cursor + 0.5)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>`);
  }
  const last = end < columns.length ? (columns[end]?.first ?? positions) - 1 : positions;
  parts.push(`<text x="${LEFT}" y="${HEIGHT - 5}">position ${columns[first]?.first ?? 0}</text>`);
  parts.push(`<text x="${LEFT + width()}" y="${HEIGHT - 5}" text-anchor="end">${last}</text>`);
  picture.innerHTML = parts.join("");
  element("here").textContent = described(cursor);
}

/** What is at a column, in words. */
function described(at: number): string {
  const column = timeline?.columns[at];
  if (timeline === undefined || column === undefined) {
    return "";
  }
  const step = column.step === null ? "the end" : `%${column.step.name}${source(column.step, " (", ")")}`;
  const kinds = timeline.kinds.flatMap((kind, n) => (column.bytes[n] ? [`${kind} ${bytes(column.bytes[n])}`] : []));
  return `position ${column.position}: ${bytes(sum(column.bytes))} in use at ${step} · ${kinds.join(", ")}`;
}

function source(step: Step | null, before = "", after = ""): string {
  return step?.source ? `${before}${step.source.file.split("/").pop()}:${step.source.line}${after}` : "";
}

function go(step: Step | null | undefined): void {
  if (step) {
    extension.postMessage({ kind: "go", range: step.range });
  }
}

/** Shows more or fewer columns; the one at `around` stays where it is. */
function zoom(factor: number, around: number): void {
  const all = timeline?.columns.length ?? 0;
  const count = Math.min(all, Math.max(Math.min(FEWEST, all), Math.round((end - first) * factor)));
  const share = (around + 0.5 - first) / Math.max(1, end - first);
  first = Math.min(all - count, Math.max(0, Math.round(around + 0.5 - share * count)));
  end = first + count;
  draw();
}

function move(to: number): void {
  const all = timeline?.columns.length ?? 0;
  cursor = Math.min(all - 1, Math.max(0, to));
  const count = end - first;
  if (cursor < first || cursor >= end) {
    first = Math.min(all - count, Math.max(0, cursor - Math.floor(count / 2)));
    end = first + count;
  }
  draw();
}

function columnAt(event: MouseEvent): number {
  const left = picture?.getBoundingClientRect().left ?? 0;
  const at = first + Math.floor(((event.clientX - left - LEFT) / width()) * (end - first));
  return Math.min(end - 1, Math.max(first, at));
}

function sortKey(value: Value): number | string {
  const keys: Record<string, number | string> = {
    bytes: value.bytes,
    name: value.name,
    kind: value.kind,
    since: value.live[0],
    end: value.live[1],
    source: source(value.defined),
  };
  return keys[order.by] ?? 0;
}

function list(): void {
  if (timeline === undefined) {
    return;
  }
  const { kinds, at_peak } = timeline;
  const sorted = [...at_peak.values].sort((one, other) => {
    const [a, b] = [sortKey(one), sortKey(other)];
    const compared = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return order.down ? -compared : compared;
  });
  const rows = sorted.map((value) => {
    const until = typeof value.until === "string" ? `the ${value.until}` : `<a tabindex="0">%${escaped(value.until.name)}</a>`;
    // The whole result of an instruction needs no index.
    const shown = escaped(`%${value.name.replace(/\{\}$/, "")}`);
    const name = value.defined === null ? shown : `<a tabindex="0">${shown}</a>`;
    const box = `<span class="box k${kinds.indexOf(value.kind)}"></span>`;
    const cells = [name, `${box}${escaped(value.kind)}`, value.live[0], value.live[1], until, escaped(source(value.defined))];
    return `<tr><td class="number">${bytes(value.bytes)}</td>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const body = element("values");
  body.innerHTML = rows.join("");
  body.querySelectorAll("tr").forEach((row, n) => {
    const value = sorted[n];
    for (const [cell, step] of [[1, value?.defined], [5, value?.until]] as const) {
      follow(row.children[cell]?.querySelector("a"), typeof step === "string" ? undefined : step);
    }
  });
}

function show(answer: MemoryTimeline): void {
  const isNew = timeline?.module !== answer.module || timeline.columns.length !== answer.columns.length;
  timeline = answer;
  if (isNew) {
    [first, end] = [0, answer.columns.length];
    cursor = peakColumn(answer);
  }
  element("summary").textContent = answer.summary;
  const assumed = answer.order === null ? [] : [answer.order];
  const omitted = answer.omitted > 0 ? [`${answer.omitted} smaller values are alive at the peak, too`] : [];
  element("notes").textContent = [...assumed, ...omitted, ...answer.problems].join(" · ");
  const used = answer.kinds.map((kind, n) => ({ kind, n, most: Math.max(0, ...answer.columns.map((column) => column.bytes[n] ?? 0)) }));
  const boxes = used.filter(({ most }) => most > 0).map(({ kind, n }) => `<span><span class="box k${n}"></span>${escaped(kind)}</span>`);
  element("legend").innerHTML = boxes.join("");
  draw();
  list();
}

function advise({ advice }: MemoryAdvice): void {
  const rows = advice.map(({ text, in_jax, changed }) => {
    const place = changed === null ? "" : ` <a tabindex="0">%${escaped(changed.name)}${escaped(source(changed, " (", ")"))}</a>`;
    const jax = in_jax === null ? "" : ` <span class="faint">in jax: ${escaped(in_jax)}</span>`;
    return `<li>${escaped(text)}${jax}${place}</li>`;
  });
  element("advised").hidden = advice.length === 0;
  const items = element("advice");
  items.innerHTML = rows.join("");
  items.querySelectorAll("li").forEach((row, n) => follow(row.querySelector("a"), advice[n]?.changed));
}

/** Makes a link lead to an instruction. */
function follow(link: Element | null | undefined, step: Step | null | undefined): void {
  link?.addEventListener("click", () => go(step));
  link?.addEventListener("keydown", (event) => (event as KeyboardEvent).key === "Enter" && go(step));
}

function toPeak(): void {
  if (timeline) {
    move(peakColumn(timeline));
  }
}

function showAll(): void {
  zoom(Number.MAX_SAFE_INTEGER, cursor);
}

const KEYS: Record<string, () => void> = {
  ArrowLeft: () => move(cursor - 1),
  ArrowRight: () => move(cursor + 1),
  PageUp: () => move(cursor - (end - first)),
  PageDown: () => move(cursor + (end - first)),
  Home: () => move(0),
  End: () => move(Number.MAX_SAFE_INTEGER),
  "+": () => zoom(0.5, cursor),
  "=": () => zoom(0.5, cursor),
  "-": () => zoom(2, cursor),
  "0": showAll,
  p: toPeak,
  Enter: () => go(timeline?.columns[cursor]?.step),
};

picture?.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (act && !event.ctrlKey && !event.metaKey && !event.altKey) {
    act();
    event.preventDefault();
  }
});
picture?.addEventListener("mousemove", (event) => move(columnAt(event)));
picture?.addEventListener("click", (event) => go(timeline?.columns[columnAt(event)]?.step));
picture?.addEventListener("wheel", (event) => {
  zoom(event.deltaY < 0 ? 0.8 : 1.25, columnAt(event));
  event.preventDefault();
});
element("in").addEventListener("click", () => zoom(0.5, cursor));
element("out").addEventListener("click", () => zoom(2, cursor));
element("all").addEventListener("click", showAll);
element("topeak").addEventListener("click", toPeak);
element("save").addEventListener("click", () => extension.postMessage({ kind: "save" }));
document.querySelectorAll("th[data-by]").forEach((head) => {
  head.addEventListener("click", () => {
    const by = (head as HTMLElement).dataset["by"] ?? "bytes";
    order = { by, down: order.by === by ? !order.down : by === "bytes" };
    list();
  });
});
window.addEventListener("resize", draw);
window.addEventListener("message", ({ data }: MessageEvent<PageContent>) =>
  "timeline" in data ? show(data.timeline) : advise(data),
);
extension.postMessage({ kind: "ready" });
