import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import {
  DidChangeConfigurationNotification,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  State,
} from "vscode-languageclient/node";
import { findServer } from "./server-path";
import { KERNEL_SCHEME } from "./show-kernel";
import { SECTION, serverSettings } from "./settings";
import { showReferencesFeature } from "./show-references";

export type ServerState =
  | { kind: "not started" | "starting" | "stopped" }
  | { kind: "running"; version: string; path: string }
  | { kind: "failed"; problem: string };

/** The one language server of this window: started with the first HLO document, restarted on demand. */
export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;
  private current: ServerState = { kind: "not started" };
  private readonly changed = new vscode.EventEmitter<ServerState>();
  private readonly subscriptions: vscode.Disposable[] = [this.changed];
  private readonly handlers: [string, (params: unknown) => void][] = [];

  readonly onDidChangeState = this.changed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions.push(
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration(`${SECTION}.server.path`) && this.current.kind !== "not started") {
          void this.restart();
        } else if (change.affectsConfiguration(SECTION)) {
          void this.sendSettings();
        }
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.sendSettings()),
    );
  }

  get state(): ServerState {
    return this.current;
  }

  /** Starts the server unless it is running or has been tried already. */
  start(): Promise<void> {
    this.starting ??= this.launch();
    return this.starting;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.starting;
    const client = this.client;
    this.client = undefined;
    this.starting = undefined;
    // A client whose server could not be started cannot be stopped either, but still has to be let go.
    await client?.dispose().catch((error: unknown) => this.log.warn(`stopping the server: ${String(error)}`));
    this.setState({ kind: "stopped" });
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async launch(): Promise<void> {
    const found = findServer(this.context);
    if ("problem" in found) {
      return this.fail(found.problem);
    }
    this.log.info(`server: ${found.path} (from ${found.from})`);
    this.setState({ kind: "starting" });

    const serverOptions: ServerOptions = { command: found.path, args: ["lsp"] };
    const clientOptions: LanguageClientOptions = {
      documentSelector: [
        { scheme: "file", language: "hlo" },
        { scheme: "untitled", language: "hlo" },
        { scheme: "file", language: "mlir" },
        { scheme: "untitled", language: "mlir" },
        // Kernels that are shown: the server hears which, and answers definitions and hovers in them.
        { scheme: KERNEL_SCHEME },
      ],
      initializationOptions: serverSettings(),
      outputChannel: this.log,
      diagnosticCollectionName: SECTION,
    };
    const client = new LanguageClient(SECTION, "hlo-analyzer", serverOptions, clientOptions);
    client.registerFeature(showReferencesFeature);
    for (const [method, handle] of this.handlers) {
      client.onNotification(method, handle);
    }
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        const version = client.initializeResult?.serverInfo?.version ?? "of unknown version";
        this.setState({ kind: "running", version, path: found.path });
      } else if (this.client === client) {
        // The client restarts a crashed server by itself, until it crashes too often.
        this.setState({ kind: newState === State.Starting ? "starting" : "stopped" });
      }
    });
    try {
      await client.start();
    } catch (error) {
      this.fail(`The hlo-analyzer server at ${found.path} did not start: ${String(error)}`);
    }
  }

  /** Asks the server, if it runs; nothing where it does not, or where the text has just changed. */
  async ask<T>(method: string, params: unknown): Promise<T | undefined> {
    if (this.client?.state !== State.Running) {
      return undefined;
    }
    return this.client.sendRequest<T | null>(method, params).then(
      (answer) => answer ?? undefined,
      () => undefined,
    );
  }

  /** Hears what this and every later server says. */
  onNotification<T>(method: string, handle: (params: T) => void): vscode.Disposable {
    this.handlers.push([method, handle as (params: unknown) => void]);
    return this.client?.onNotification(method, handle) ?? new vscode.Disposable(() => undefined);
  }

  private sendSettings(): Promise<void> {
    if (this.client?.state !== State.Running) {
      return Promise.resolve();
    }
    return this.client.sendNotification(DidChangeConfigurationNotification.type, {
      settings: { [SECTION]: serverSettings() },
    });
  }

  /** The version as the program itself says it, which also works where the language server does not start. */
  async showVersion(): Promise<void> {
    const found = findServer(this.context);
    if ("problem" in found) {
      return this.fail(found.problem);
    }
    const version = await promisify(execFile)(found.path, ["--version"]).then(
      ({ stdout }) => stdout.trim(),
      (error: unknown) => `no version: ${String(error)}`,
    );
    const text = `${version} · ${this.current.kind} · ${found.path} (from ${found.from})`;
    this.log.info(text);
    void vscode.window.showInformationMessage(text);
  }

  private fail(problem: string): void {
    this.log.error(problem);
    this.setState({ kind: "failed", problem });
    // Not awaited: the message stays until the user answers.
    void vscode.window
      .showErrorMessage(problem, "Open Settings", "Set-up Help", "Show Log")
      .then((choice) => this.answer(choice));
  }

  private answer(choice: string | undefined): void {
    if (choice === "Open Settings") {
      void vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.server.path`);
    } else if (choice === "Set-up Help") {
      const readme = vscode.Uri.joinPath(this.context.extensionUri, "README.md");
      void vscode.commands.executeCommand("markdown.showPreview", readme);
    } else if (choice === "Show Log") {
      this.log.show();
    }
  }

  private setState(state: ServerState): void {
    this.current = state;
    this.changed.fire(state);
  }
}
