import * as vscode from "vscode";
import { isModule } from "./place";
import { KERNEL_SCHEME } from "./schemes";
import type { Server, ServerState } from "./server";
import { SECTION } from "./settings";
import { targetOf } from "./warnings";

const MENU = "hlo-analyzer.showMenu";
const SELECT_DEVICE = "hlo-analyzer.selectDevice";
/** The maximum age of the displayed memory usage, in milliseconds. */
const PERIOD = 10_000;

/** The response of `hlo-analyzer/status`. */
interface Status {
  version: string;
  memory: number | null;
  documents: number;
  device: string;
  devices: { name: string; description: string }[];
  ptxas: boolean;
}

/** Shows the server in the status bar, and in the language status of a document. */
export function registerStatus(server: Server): vscode.Disposable {
  return new StatusItem(server);
}

class StatusItem implements vscode.Disposable {
  private readonly bar = vscode.window.createStatusBarItem("hlo-analyzer.status", vscode.StatusBarAlignment.Right, 100);
  private readonly language = vscode.languages.createLanguageStatusItem("hlo-analyzer.status", [{ language: "hlo" }, { language: "mlir" }]);
  private readonly timer: NodeJS.Timeout;
  private readonly subscriptions: vscode.Disposable[];
  private status: Status | undefined;

  constructor(private readonly server: Server) {
    this.bar.name = "hlo-analyzer";
    this.language.name = "hlo-analyzer";
    this.subscriptions = [
      this.bar,
      this.language,
      server.onDidChangeState(() => void this.refresh()),
      vscode.window.onDidChangeActiveTextEditor(() => this.draw()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration(SECTION)) {
          void this.refresh();
        }
      }),
      vscode.commands.registerCommand(MENU, () => this.showMenu()),
      vscode.commands.registerCommand(SELECT_DEVICE, () => this.selectDevice()),
    ];
    this.timer = setInterval(() => vscode.window.state.focused && void this.refresh(), PERIOD);
    void this.refresh();
  }

  dispose(): void {
    clearInterval(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async refresh(): Promise<void> {
    this.draw();
    this.status = await this.server.ask<Status>("hlo-analyzer/status", {});
    this.draw();
  }

  private draw(): void {
    const { state } = this.server;
    const device = vscode.workspace.getConfiguration(SECTION).get<string>("gpu.device", "h100-sxm");
    const held = this.server.held.length;
    const isWrong = state.kind === "failed" || state.kind === "stopped" || held > 0;

    this.bar.text = text(state, device, held);
    this.bar.tooltip = this.tooltip(state, device);
    this.bar.command = MENU;
    this.bar.backgroundColor = isWrong
      ? new vscode.ThemeColor(state.kind === "failed" ? "statusBarItem.errorBackground" : "statusBarItem.warningBackground")
      : undefined;
    this.bar.accessibilityInformation = { label: `hlo-analyzer: ${state.kind}, ${device}`, role: "button" };
    const document = vscode.window.activeTextEditor?.document;
    const isOurs = document && (isModule(document) || document.uri.scheme === KERNEL_SCHEME);
    if (isOurs || isWrong || (document === undefined && state.kind !== "not started")) {
      this.bar.show();
    } else {
      this.bar.hide();
    }

    this.language.busy = state.kind === "starting";
    this.language.severity = severity(state, held);
    this.language.text = state.kind === "running" ? `hlo-analyzer ${state.version}` : `hlo-analyzer: ${state.kind}`;
    this.language.detail = held > 0 ? "files are held back" : state.kind === "failed" ? state.problem : device;
    this.language.command = { title: "Options", command: MENU };
  }

  private tooltip(state: ServerState, device: string): vscode.MarkdownString {
    const tip = new vscode.MarkdownString("", true);
    tip.isTrusted = { enabledCommands: [SELECT_DEVICE, "hlo-analyzer.restartServer", "hlo-analyzer.showLog"] };
    const version = state.kind === "running" ? state.version : state.kind;
    tip.appendMarkdown(`**hlo-analyzer** ${version}\n\n`);
    if (state.kind === "failed") {
      tip.appendText(`${state.problem}\n\n`);
    }
    for (const file of this.server.held) {
      tip.appendText(`held back: ${file}\n\n`);
    }
    if (this.status) {
      const description = this.status.devices.find(({ name }) => name === device)?.description;
      tip.appendMarkdown(`$(chip) ${description ?? device}\n\n`);
      tip.appendMarkdown(`$(database) ${memory(this.status)}\n\n`);
    }
    tip.appendMarkdown(
      `[Select Device](command:${SELECT_DEVICE}) · [Restart](command:hlo-analyzer.restartServer) · [Log](command:hlo-analyzer.showLog)`,
    );
    return tip;
  }

  private async showMenu(): Promise<void> {
    await this.refresh();
    const { state, held } = this.server;
    const device = this.status?.device ?? vscode.workspace.getConfiguration(SECTION).get<string>("gpu.device", "");
    interface Item extends vscode.QuickPickItem {
      run?: () => unknown;
    }
    const command = (name: string) => () => vscode.commands.executeCommand(name);
    const items: Item[] = [
      {
        label: "$(chip) Device",
        description: device,
        detail: this.status?.devices.find(({ name }) => name === device)?.description,
        run: () => this.selectDevice(),
      },
      { label: "$(graph) Heaviest Kernels", run: command("hlo-analyzer.heaviestKernels") },
      { label: "Server", kind: vscode.QuickPickItemKind.Separator },
      {
        label: "$(database) Memory",
        description: this.status ? memory(this.status) : "not known: the server is not running",
        run: () => this.showMenu(),
      },
      {
        label: "$(info) Version",
        description: state.kind === "running" ? state.version : state.kind,
        detail: state.kind === "running" ? state.path : state.kind === "failed" ? state.problem : undefined,
        run: command("hlo-analyzer.serverVersion"),
      },
      { label: "$(debug-restart) Restart", run: command("hlo-analyzer.restartServer") },
      { label: "$(output) Log", run: command("hlo-analyzer.showLog") },
    ];
    if (held.length > 0) {
      const names = held.map((file) => vscode.Uri.parse(file).path.split("/").pop()).join(", ");
      items.unshift({ label: "$(warning) Try Files Held Back Again", description: names, run: () => this.server.retry() });
    }
    const picked = await vscode.window.showQuickPick(items, { title: "hlo-analyzer", placeHolder: `The server is ${state.kind === "failed" ? "not running" : state.kind}` });
    await picked?.run?.();
  }

  private async selectDevice(): Promise<void> {
    this.status ??= await this.server.ask<Status>("hlo-analyzer/status", {});
    const section = vscode.workspace.getConfiguration(SECTION);
    const current = section.get<string>("gpu.device", "h100-sxm");
    const items = (this.status?.devices ?? []).map(({ name, description }) => ({
      label: name,
      description,
      iconPath: new vscode.ThemeIcon(name === current ? "check" : "blank"),
    }));
    if (items.length === 0) {
      await vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.gpu.device`);
      return;
    }
    const picker = vscode.window.createQuickPick<(typeof items)[number]>();
    picker.title = "The GPU that kernels are for";
    picker.items = items;
    picker.matchOnDescription = true;
    picker.activeItems = items.filter(({ label }) => label === current);
    picker.onDidAccept(async () => {
      const [picked] = picker.selectedItems;
      picker.hide();
      if (picked && picked.label !== current) {
        await section.update("gpu.device", picked.label, targetOf(section.inspect("gpu.device")));
      }
    });
    picker.onDidHide(() => picker.dispose());
    picker.show();
  }
}

function text(state: ServerState, device: string, held: number): string {
  switch (state.kind) {
    case "running":
      return held > 0 ? `$(warning) ${device}` : `$(chip) ${device}`;
    case "starting":
      return "$(sync~spin) hlo-analyzer";
    case "failed":
      return "$(error) hlo-analyzer";
    case "stopped":
      return "$(debug-disconnect) hlo-analyzer";
    case "not started":
      return "$(chip) hlo-analyzer";
  }
}

function severity(state: ServerState, held: number): vscode.LanguageStatusSeverity {
  if (state.kind === "failed") {
    return vscode.LanguageStatusSeverity.Error;
  }
  return state.kind === "stopped" || held > 0 ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
}

function memory({ memory: bytes, documents }: Status): string {
  const files = `${documents} ${documents === 1 ? "file" : "files"} open`;
  return bytes === null ? files : `${(bytes / 1e6).toFixed(0)} MB · ${files}`;
}
