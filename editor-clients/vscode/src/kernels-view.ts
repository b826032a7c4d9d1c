import * as vscode from "vscode";
import { SHOW_KERNEL } from "./client-commands";
import { fileOf, goTo, isModule, type Position } from "./place";
import type { Server } from "./server";

const VIEW = "hlo-analyzer.kernels";
/** The command of an entry, which jumps to the kernel. */
const REVEAL = "hlo-analyzer.kernels.reveal";
/** The largest number of entries: more than anyone scrolls through. */
const LIMIT = 5_000;
/** How long typing must pause before the list is updated, in milliseconds. */
const PAUSE = 800;

interface Kernel {
  name: string;
  computation: string;
  kind: string;
  at: { start: Position; end: Position };
  executions: number;
  total_us: number;
  share: number;
  /** Whether `total_us` is a lower bound. */
  is_at_least: boolean;
  bytes_needed: number;
  /** The traffic of one run as text, as in the hover of the kernel. */
  traffic: string;
  bound: string;
  roofline: { flops: number };
}

/** The response of `hlo-analyzer/heaviestKernels`. */
interface HeaviestKernels {
  kernels: Kernel[];
  omitted: number;
  note: string;
}

const ORDERS = {
  time: { title: "time", compare: (a: Kernel, b: Kernel) => b.total_us - a.total_us },
  bytes: { title: "bytes", compare: (a: Kernel, b: Kernel) => bytesOf(b) - bytesOf(a) },
  name: {
    title: "name",
    compare: (a: Kernel, b: Kernel) => a.name.localeCompare(b.name, "en", { numeric: true }),
  },
};
type Order = keyof typeof ORDERS;

/**
 * Lists the kernels of the active module with their costs. The list stays when another file becomes active.
 */
export function registerKernelsView(server: Server, context: vscode.ExtensionContext): vscode.Disposable {
  return new KernelsView(server, context);
}

class KernelsView implements vscode.Disposable, vscode.TreeDataProvider<Kernel> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Kernel>;
  private readonly subscriptions: vscode.Disposable[];
  private module: vscode.Uri | undefined;
  private kernels: Kernel[] = [];
  private note = "";
  private timer: NodeJS.Timeout | undefined;
  /** The number of the last request: responses to earlier ones are dropped. */
  private asked = 0;

  constructor(
    private readonly server: Server,
    private readonly context: vscode.ExtensionContext,
  ) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: false });
    const sort = (order: Order): vscode.Disposable =>
      vscode.commands.registerCommand(`hlo-analyzer.kernels.sortBy${order[0]?.toUpperCase() ?? ""}${order.slice(1)}`, () =>
        this.sortBy(order),
      );
    this.subscriptions = [
      this.changed,
      this.view,
      ...(Object.keys(ORDERS) as Order[]).map(sort),
      vscode.commands.registerCommand("hlo-analyzer.heaviestKernels", () => this.show()),
      vscode.commands.registerCommand("hlo-analyzer.kernels.refresh", () => this.load()),
      vscode.commands.registerCommand(REVEAL, (kernel: Kernel) => this.module && goTo(this.module, kernel.at)),
      vscode.commands.registerCommand("hlo-analyzer.kernels.showKernel", (kernel: Kernel) =>
        vscode.commands.executeCommand(SHOW_KERNEL, this.module?.toString(), kernel.at.start),
      ),
      this.view.onDidChangeVisibility(({ visible }) => visible && this.follow(vscode.window.activeTextEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.toString() === this.module?.toString()) {
          this.soon();
        }
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("hlo-analyzer.gpu")) {
          this.soon();
        }
      }),
      server.onDidChangeState(({ kind }) => kind === "running" && this.soon()),
    ];
    this.sortBy(this.order);
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private get order(): Order {
    const stored = this.context.workspaceState.get<string>(VIEW);
    return stored !== undefined && stored in ORDERS ? (stored as Order) : "time";
  }

  private sortBy(order: Order): void {
    void this.context.workspaceState.update(VIEW, order);
    void vscode.commands.executeCommand("setContext", "hlo-analyzer.kernels.order", order);
    this.kernels.sort(ORDERS[order].compare);
    this.redraw();
  }

  private redraw(): void {
    const name = this.module?.path.split("/").pop();
    const order = this.kernels.length > 1 ? ` · sorted by ${ORDERS[this.order].title}` : "";
    this.view.message = name && this.note ? `${name}: ${this.note}${order}` : undefined;
    this.changed.fire();
  }

  /** Runs the command, also for files that VS Code does not send to extensions. */
  private async show(): Promise<void> {
    const file = await fileOf(this.server);
    if (file === undefined) {
      return;
    }
    this.module = file;
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    await this.load(true);
  }

  private follow(editor: vscode.TextEditor | undefined): void {
    const document = editor?.document;
    if (document && isModule(document) && this.view.visible && document.uri.toString() !== this.module?.toString()) {
      this.module = document.uri;
      void this.load();
    }
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.view.visible && void this.load(), PAUSE);
  }

  /** Loads the list. With `isAskedFor`, a message says why there is none. */
  private async load(isAskedFor = false): Promise<void> {
    if (this.module === undefined) {
      return;
    }
    const number = ++this.asked;
    const params = { textDocument: { uri: this.module.toString() }, limit: LIMIT };
    const answer = isAskedFor
      ? await this.server.request<HeaviestKernels>("hlo-analyzer/heaviestKernels", params)
      : await this.server.ask<HeaviestKernels>("hlo-analyzer/heaviestKernels", params);
    if (number !== this.asked || answer === undefined) {
      return;
    }
    this.kernels = [...(answer?.kernels ?? [])].sort(ORDERS[this.order].compare);
    const omitted = answer?.omitted ? ` ${answer.omitted} more are not listed.` : "";
    this.note = this.kernels.length > 0 ? `${answer?.note ?? ""}${omitted}` : "no kernels, because this module is not compiled for a GPU";
    this.redraw();
  }

  getChildren(kernel?: Kernel): Kernel[] {
    return kernel ? [] : this.kernels;
  }

  getTreeItem(kernel: Kernel): vscode.TreeItem {
    const item = new vscode.TreeItem(`%${kernel.name}`);
    const runs = kernel.executions > 1 ? ` · ${kernel.executions} runs` : "";
    item.description = `${time(kernel)} · ${percent(kernel.share)} · ${traffic(kernel)} · ${kernel.bound}${runs}`;
    item.tooltip = tooltip(kernel);
    item.iconPath = new vscode.ThemeIcon("chip", colour(kernel.share));
    item.contextValue = "kernel";
    item.command = { command: REVEAL, title: "Go to Kernel", arguments: [kernel] };
    item.accessibilityInformation = { label: `${kernel.name}, ${time(kernel)}, ${traffic(kernel)}` };
    return item;
  }
}

function tooltip(kernel: Kernel): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendText(`${kernel.kind} in ${kernel.computation}`);
  const rows = [
    ["time", `${time(kernel)} (${percent(kernel.share)} of the module)`],
    ["runs", String(kernel.executions)],
    ["read and written, per run", kernel.traffic],
    ["operations, per run", kernel.roofline.flops.toLocaleString("en")],
    ["bound by", kernel.bound],
  ];
  text.appendMarkdown(`\n\n| | |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join("\n")}\n`);
  return text;
}

/** The bytes that all runs together need. */
function bytesOf({ bytes_needed, executions }: Kernel): number {
  return bytes_needed * executions;
}

function traffic(kernel: Kernel): string {
  return kernel.executions > 1 ? `${kernel.traffic} per run` : kernel.traffic;
}

function colour(share: number): vscode.ThemeColor | undefined {
  const name = share >= 0.25 ? "charts.red" : share >= 0.1 ? "charts.orange" : undefined;
  return name === undefined ? undefined : new vscode.ThemeColor(name);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function time({ total_us, is_at_least }: Kernel): string {
  const value = total_us >= 1000 ? `${Number((total_us / 1000).toPrecision(3))} ms` : `${Number(total_us.toPrecision(3))} µs`;
  return is_at_least ? `≥ ${value}` : value;
}
