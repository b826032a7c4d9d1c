import * as vscode from "vscode";
import { COMPILES_CHANGED } from "./client-commands";
import { type DetailNode, detailItem, detailNodes, GO_TO_THUNK, goToThunk, inDetail } from "./compile-details";
import {
  type Changes,
  type Compile,
  type CompileStages,
  type Costs,
  detailsOf,
  dumpFolders,
  type Folder,
  folderOf,
  foldersOf,
  isDump,
  type Pipeline,
  type Stage,
  unique,
} from "./compiles";
import type { Server } from "./server";
import { item } from "./tree-item";

const VIEW = "hlo-analyzer.compiles";
/** How long files of a folder must stay as they are before it is listed again, in milliseconds. */
const PAUSE = 1_000;

type Node =
  | { kind: "folder"; folder: Folder }
  | { kind: "compile"; folder: Folder; compile: Compile }
  | { kind: "pipeline"; parent: Node; pipeline: Pipeline; of: number }
  | { kind: "stage"; parent: Node; stage: Stage; of: number }
  | DetailNode
  | { kind: "artefacts"; artefacts: CompileStages["artefacts"] }
  | { kind: "artefact"; uri: string; title: string }
  | { kind: "problem"; message: string };

/** Lists the compiles of dump folders: modules, pipelines, and the passes that changed something. */
export function registerCompilesView(server: Server): CompilesView {
  return new CompilesView(server);
}

export class CompilesView implements vscode.Disposable, vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Node>;
  private readonly subscriptions: vscode.Disposable[];
  /** Folders that the user opened by the command, or a file of. */
  private opened: vscode.Uri[] = [];
  /** The folder that was written last at the user's request, which starts expanded. */
  private latest: string | undefined;
  /** What the stages changed, by URI; asked for when their pipeline is expanded. */
  private readonly changes = new Map<string, Changes>();
  /** Kernels, bytes and time of the stages, by URI; null before fusion. */
  private readonly costs = new Map<string, Costs | null>();
  /** Device, flags and thunks, by folder and compile. */
  private readonly details = new Map<string, ReturnType<typeof detailsOf>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    const watcher = vscode.workspace.createFileSystemWatcher("**/*.txt");
    this.subscriptions = [
      this.changed,
      this.view,
      watcher,
      watcher.onDidCreate((file) => this.touched(file)),
      watcher.onDidChange((file) => this.touched(file)),
      watcher.onDidDelete((file) => this.touched(file)),
      // The server also watches folders outside of the workspace.
      server.onNotification(COMPILES_CHANGED, () => this.refreshLater()),
      vscode.commands.registerCommand("hlo-analyzer.openDumpFolder", () => this.openFolder()),
      vscode.commands.registerCommand("hlo-analyzer.compiles.refresh", () => this.refresh()),
      vscode.commands.registerCommand(GO_TO_THUNK, goToThunk),
      vscode.commands.registerCommand("hlo-analyzer.compiles.close", (node?: Node) => this.close(node)),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
      server.onDidChangeState(({ kind }) => kind === "running" && this.refresh()),
    ];
    this.follow(vscode.window.activeTextEditor);
    void dumpFolders().then((folders) => folders.length > 0 && this.appear());
  }

  /** The view takes room in the explorer only where the user works with HLO. */
  private appear(): void {
    void vscode.commands.executeCommand("setContext", "hlo-analyzer.isActive", true);
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private refresh(): void {
    this.changes.clear();
    this.costs.clear();
    this.details.clear();
    this.changed.fire(undefined);
  }

  private touched(file: vscode.Uri): void {
    if (isDump(file)) {
      this.refreshLater();
    }
  }

  private refreshLater(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), PAUSE);
  }

  /** A dump outside of the workspace joins the view when a file of it is shown. */
  private follow(editor: vscode.TextEditor | undefined): void {
    if (editor?.document.languageId === "hlo") {
      this.appear();
    }
    const file = editor?.document.uri;
    if (file === undefined || !isDump(file)) {
      return;
    }
    if (this.add(folderOf(file))) {
      this.refresh();
    }
  }

  private async openFolder(): Promise<void> {
    const chosen = await vscode.window.showOpenDialog({
      canSelectFiles: false,
      canSelectFolders: true,
      openLabel: "Show Compiles",
      title: "The folder that --xla_dump_to named",
    });
    if (chosen?.[0] === undefined) {
      return;
    }
    await this.server.start();
    const folder = await foldersOf(this.server, chosen[0]);
    if (!folder?.compiles.length) {
      void vscode.window.showInformationMessage(
        `${chosen[0].fsPath} has no dumps of XLA. Create them with XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*".`,
      );
      return;
    }
    await this.show(chosen[0]);
  }

  /** Shows a folder, with its compiles expanded. */
  async show(folder: vscode.Uri): Promise<void> {
    this.add(folder);
    this.latest = folder.toString();
    this.appear();
    this.refresh();
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  }

  /** Removes a folder of which no file is in the workspace. */
  private close(node?: Node): void {
    if (node?.kind === "folder") {
      const closed = vscode.Uri.parse(node.folder.folder).toString();
      this.opened = this.opened.filter((folder) => folder.toString() !== closed);
      this.refresh();
    }
  }

  /** Returns whether the folder is new. */
  private add(folder: vscode.Uri): boolean {
    const isKnown = this.opened.some((known) => known.toString() === folder.toString());
    if (!isKnown) {
      this.opened.push(folder);
    }
    return !isKnown;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    switch (node?.kind) {
      case undefined:
        return this.roots();
      case "folder":
        return inFolder(node.folder);
      case "compile":
        return this.inCompile(node);
      case "pipeline": {
        this.loadChanges(node, node.pipeline.stages);
        return this.shown(node.pipeline).map((stage) => ({ kind: "stage", parent: node, stage, of: node.of }));
      }
      case "flags":
      case "thunks":
      case "thunk":
        return inDetail(node);
      case "artefacts":
        return node.artefacts.map((artefact) => ({ kind: "artefact", ...artefact }));
      default:
        return [];
    }
  }

  private async roots(): Promise<Node[]> {
    const uris = unique([...(await dumpFolders()), ...this.opened]);
    if (uris.length > 0) {
      await this.server.start();
    }
    const folders = (await Promise.all(uris.map((uri) => foldersOf(this.server, uri)))).filter((folder) => folder !== undefined);
    const found = folders.filter(({ compiles }) => compiles.length > 0);
    const [only] = found;
    return found.length === 1 && only ? inFolder(only) : found.map((folder) => ({ kind: "folder", folder }));
  }

  private async inCompile(node: Node & { kind: "compile" }): Promise<Node[]> {
    const params = { textDocument: { uri: node.folder.folder }, compile: node.compile.index };
    const [found, details] = await Promise.all([
      this.server.ask<CompileStages>("hlo-analyzer/compiles", params),
      this.detailsOf(node),
    ]);
    const problems: Node[] = node.compile.problems.map((message) => ({ kind: "problem", message }));
    if (found === undefined) {
      return problems;
    }
    const of = node.compile.stages;
    const passes = found.pipelines.flatMap((pipeline): Node[] => {
      const stages = this.shown(pipeline);
      // A stage outside of pipelines stands for itself.
      const isAlone = pipeline.name === "";
      if (isAlone) {
        return stages.map((stage) => ({ kind: "stage", parent: node, stage, of }));
      }
      return stages.length > 0 ? [{ kind: "pipeline", parent: node, pipeline, of }] : [];
    });
    this.loadChanges(node, passes.flatMap((pass) => (pass.kind === "stage" ? [pass.stage] : [])));
    const artefacts: Node[] = found.artefacts.length > 0 ? [{ kind: "artefacts", artefacts: found.artefacts }] : [];
    return [...problems, ...passes, ...detailNodes(details), ...artefacts];
  }

  private detailsOf({ folder: { folder }, compile: { index } }: Node & { kind: "compile" }): ReturnType<typeof detailsOf> {
    const key = `${index} ${folder}`;
    const known = this.details.get(key) ?? detailsOf(this.server, folder, index);
    this.details.set(key, known);
    return known;
  }

  /** Stages that changed something. Until that is known: all but the starts of pipelines, which seldom do. */
  private shown({ stages }: Pipeline): Stage[] {
    return stages.filter(({ uri, kind }) => {
      const changes = this.changes.get(uri);
      const isEnd = kind === "before" || kind === "after";
      return changes === undefined ? kind !== "start" : changes.isChanged || changes.problem !== null || isEnd;
    });
  }

  /** Asks what the stages changed; the items get their descriptions when the answer is there. */
  private loadChanges(node: Node, stages: Stage[]): void {
    const uris = stages.map(({ uri }) => uri).filter((uri) => !this.changes.has(uri));
    if (uris.length === 0) {
      return;
    }
    void this.server.ask<Changes[]>("hlo-analyzer/stageChanges", { stages: uris }).then((answer) => {
      for (const change of answer ?? []) {
        this.changes.set(change.uri, change);
      }
      if (answer !== undefined) {
        this.changed.fire(node);
        void this.loadCosts(node, answer.filter(({ isChanged, problem }) => isChanged && problem === null));
      }
    });
  }

  /** Asks for the costs one by one: the server analyses a whole module for each. */
  private async loadCosts(node: Node, changes: Changes[]): Promise<void> {
    let found = 0;
    for (const { uri } of changes) {
      found += (await this.costsOf(uri)) ? 1 : 0;
    }
    if (found > 0) {
      this.changed.fire(node);
    }
  }

  private async costsOf(uri: string): Promise<Costs | undefined> {
    if (!this.costs.has(uri)) {
      const costs = await this.server.ask<Costs>("hlo-analyzer/stageCosts", { textDocument: { uri } });
      this.costs.set(uri, costs ?? null);
    }
    return this.costs.get(uri) ?? undefined;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "folder": {
        const uri = vscode.Uri.parse(node.folder.folder);
        const isOurs = vscode.workspace.getWorkspaceFolder(uri) !== undefined;
        const isRoot = vscode.workspace.workspaceFolders?.some((root) => root.uri.toString() === uri.toString());
        const shown = item(isOurs && !isRoot ? vscode.workspace.asRelativePath(uri) : nameOf(uri), "folder", true);
        shown.description = isOurs ? undefined : vscode.Uri.joinPath(uri, "..").fsPath;
        shown.tooltip = uri.fsPath;
        shown.contextValue = isOurs ? "folder" : "openedFolder";
        return this.expanded(shown, node.folder);
      }
      case "compile": {
        const shown = item(node.compile.title, node.compile.problems.length > 0 ? "warning" : "symbol-module", true);
        this.expanded(shown, node.folder);
        shown.description = node.compile.description;
        return shown;
      }
      case "pipeline": {
        const shown = item(node.pipeline.name, "list-tree", true);
        const count = node.pipeline.stages.filter(({ kind }) => kind !== "start").length;
        shown.description = count === 1 ? "1 pass" : `${count} passes`;
        shown.tooltip = new vscode.MarkdownString().appendText(node.pipeline.sentence ?? node.pipeline.name);
        return shown;
      }
      case "stage":
        return this.stageItem(node);
      case "device":
      case "flags":
      case "flag":
      case "thunks":
      case "thunk":
        return detailItem(node);
      case "artefacts": {
        const shown = item("Other files", "files", true);
        shown.description = String(node.artefacts.length);
        return shown;
      }
      case "artefact": {
        const uri = vscode.Uri.parse(node.uri);
        const shown = item(node.title, "file", false);
        shown.description = nameOf(uri);
        shown.command = { command: "vscode.open", title: "Open", arguments: [uri] };
        return shown;
      }
      case "problem": {
        const shown = item(node.message, "warning", false);
        shown.tooltip = node.message;
        return shown;
      }
    }
  }

  private expanded(shown: vscode.TreeItem, { folder }: Folder): vscode.TreeItem {
    if (folder === this.latest) {
      shown.collapsibleState = vscode.TreeItemCollapsibleState.Expanded;
    }
    return shown;
  }

  private stageItem({ stage }: Node & { kind: "stage" }): vscode.TreeItem {
    const changes = this.changes.get(stage.uri);
    const shown = item(stage.title, changes?.problem ? "warning" : ICONS[stage.kind], false);
    // The room beside a name is small.
    const summary = changes?.summary.replace(/(?<=[+−]\d+) instructions/, "");
    const parts = [summary, this.costs.get(stage.uri)?.change].filter((part) => part);
    shown.description = changes?.problem ?? (parts.length > 0 ? parts.join(" · ") : undefined);
    shown.contextValue = stage.index > 0 ? "stage" : "firstStage";
    const line = changes?.firstLine ?? 0;
    const options: vscode.TextDocumentShowOptions = line > 0 ? { selection: new vscode.Range(line, 0, line, 0) } : {};
    shown.command = { command: "vscode.open", title: "Open", arguments: [vscode.Uri.parse(stage.uri), options] };
    shown.accessibilityInformation = { label: `${stage.title}, ${changes?.summary ?? "a stage"}` };
    return shown;
  }

  /** VS Code asks for the tooltip when the mouse rests on an item. */
  async resolveTreeItem(shown: vscode.TreeItem, node: Node): Promise<vscode.TreeItem> {
    if (node.kind !== "stage") {
      return shown;
    }
    const { stage } = node;
    const costs = await this.costsOf(stage.uri);
    const changes = this.changes.get(stage.uri);
    const paragraphs = [`stage ${stage.index + 1} of ${node.of}: ${stage.title}`, stage.sentence, changes?.problem ?? changes?.summary, costs?.summary];
    shown.tooltip = new vscode.MarkdownString();
    for (const paragraph of paragraphs.filter((text) => text)) {
      shown.tooltip.appendText(paragraph ?? "").appendMarkdown("\n\n");
    }
    return shown;
  }
}

const ICONS: Record<Stage["kind"], string> = {
  before: "debug-start",
  start: "debug-start",
  pass: "edit",
  step: "circle-small",
  point: "bookmark",
  after: "debug-stop",
};

function inFolder(folder: Folder): Node[] {
  const problems: Node[] = folder.problems.map((message) => ({ kind: "problem", message }));
  return [...problems, ...folder.compiles.map((compile): Node => ({ kind: "compile", folder, compile }))];
}


function nameOf(uri: vscode.Uri): string {
  return uri.path.split("/").pop() ?? uri.path;
}
