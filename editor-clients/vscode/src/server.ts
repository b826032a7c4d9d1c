import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import {
  CloseAction,
  type CloseHandlerResult,
  DidChangeConfigurationNotification,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type MessageSignature,
  type ServerOptions,
  State,
} from "vscode-languageclient/node";
import { clientCommandsFeature, sentDiagnosticsFeature } from "./client-commands";
import { CrashPolicy, DEATHS_OF_A_FILE } from "./crash-policy";
import { FilesFromDisk } from "./files-from-disk";
import { GuardedSync } from "./guarded-sync";
import { KERNEL_SCHEME, PREVIEW_SCHEME } from "./schemes";
import { findServer } from "./server-path";
import { SECTION, serverSettings } from "./settings";
import { linkToPage } from "./warnings";

export type ServerState =
  | { kind: "not started" | "starting" | "stopped" }
  | { kind: "running"; version: string; path: string }
  | { kind: "failed"; problem: string };

/** Requests that fail without a running server show no message: one about the server is shown already. */
class Client extends LanguageClient {
  override handleFailedRequest<T>(
    type: MessageSignature,
    token: vscode.CancellationToken | undefined,
    error: unknown,
    defaultValue: T,
    isShown = true,
    throwOnCancel = false,
  ): T {
    return super.handleFailedRequest(type, token, error, defaultValue, isShown && this.isRunning(), throwOnCancel);
  }
}

/**
 * The single language server of this window: started with the first HLO document, restarted on request and
 * after a crash.
 */
export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;
  private current: ServerState = { kind: "not started" };
  private readonly changed = new vscode.EventEmitter<ServerState>();
  private readonly subscriptions: vscode.Disposable[] = [this.changed];
  private readonly handlers: [string, (params: unknown) => void][] = [];
  private readonly policy = new CrashPolicy();
  private readonly sync: GuardedSync;
  /** Files that the editor does not send because of their size. */
  readonly disk: FilesFromDisk;

  readonly onDidChangeState = this.changed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.sync = new GuardedSync(this.policy, log);
    this.disk = new FilesFromDisk(this.sync, (method, params) => this.notify(method, params));
    this.subscriptions.push(
      this.disk,
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

  /** Files that are held back because they crashed the server. */
  get held(): string[] {
    return this.policy.held();
  }

  /** Starts the server unless it is running or a start was already tried. */
  start(): Promise<void> {
    this.starting ??= this.launch();
    return this.starting;
  }

  /** Restarts the server at the user's request, with every file, including those held back. */
  async restart(): Promise<void> {
    this.policy.release();
    await this.relaunch();
  }

  private async relaunch(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.starting;
    const client = this.client;
    this.client = undefined;
    this.starting = undefined;
    // A client whose server could not be started cannot be stopped, but must be disposed of.
    await client?.dispose().catch((error: unknown) => this.log.warn(`stopping the server: ${String(error)}`));
    this.forgetFiles();
    this.setState({ kind: "stopped" });
  }

  private forgetFiles(): void {
    this.sync.reset();
    this.disk.reset();
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
        // Documents of kernels: the server learns which are shown, and handles definitions and hovers in
        // them.
        { scheme: KERNEL_SCHEME },
        // Modules after passes: the server learns which are shown, and handles them as all HLO.
        { scheme: PREVIEW_SCHEME },
      ],
      initializationOptions: { ...serverSettings(), documentation: { warnings: this.page().toString() } },
      outputChannel: this.log,
      diagnosticCollectionName: SECTION,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.died(),
      },
      middleware: this.middleware(),
    };
    const client = new Client(SECTION, "hlo-analyzer", serverOptions, clientOptions);
    client.registerFeature(clientCommandsFeature);
    client.registerFeature(sentDiagnosticsFeature);
    for (const [method, handle] of this.handlers) {
      client.onNotification(method, handle);
    }
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        const version = client.initializeResult?.serverInfo?.version ?? "of unknown version";
        this.setState({ kind: "running", version, path: found.path });
      } else if (this.client === client && this.current.kind !== "failed") {
        this.setState({ kind: newState === State.Starting ? "starting" : "stopped" });
      }
    });
    try {
      await client.start();
    } catch (error) {
      this.fail(`The hlo-analyzer server at ${found.path} did not start: ${String(error)}`);
    }
  }

  private middleware(): LanguageClientOptions["middleware"] {
    const guarded = this.sync.middleware();
    const page = this.page();
    return {
      ...guarded,
      handleDiagnostics: (uri, diagnostics, next) => {
        const linked = diagnostics.map((diagnostic) => linkToPage(diagnostic, page));
        guarded.handleDiagnostics?.(uri, linked, next);
      },
    };
  }

  /** The page that explains warnings. */
  private page(): vscode.Uri {
    return vscode.Uri.joinPath(this.context.extensionUri, "docs", "warnings.md");
  }

  /** Handles an unexpected end of the connection. */
  private died(): CloseHandlerResult {
    const { suspects, held, restart } = this.policy.died(Date.now());
    this.forgetFiles();
    const names = (files: string[]): string => files.map(nameOf).join(", ");
    this.log.error(`the server has died; last at work on: ${names(suspects) || "no file"}`);
    if (held.length > 0) {
      const what = `The hlo-analyzer server died ${DEATHS_OF_A_FILE} times while it read ${names(held)}.`;
      void vscode.window
        .showErrorMessage(`${what} The file is held back; all others work on.`, "Try Again", "Show Log")
        .then((choice) => (choice === "Try Again" ? this.retry(held) : this.answer(choice)));
    }
    if (!restart) {
      this.fail("The hlo-analyzer server died again and again, and no file explains it.", "Restart");
    }
    return { action: restart ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
  }

  /** Sends files that are held back to the server again; without a list, all of them. */
  async retry(files?: string[]): Promise<void> {
    for (const file of files ?? this.policy.held()) {
      this.policy.release(file);
    }
    await this.relaunch();
  }

  /**
   * Sends a request that no user waits for. `undefined` if the server is not running or the text has just
   * changed.
   */
  async ask<T>(method: string, params: unknown): Promise<T | undefined> {
    if (this.client?.state !== State.Running) {
      return undefined;
    }
    return this.client.sendRequest<T | null>(method, params).then(
      (answer) => answer ?? undefined,
      () => undefined,
    );
  }

  /**
   * Sends a request that the user waits for. `null` means that there is nothing to show. `undefined` means
   * that the request was cancelled, or that it failed and the user has been told why.
   */
  async request<T>(
    method: string,
    params: { textDocument: { uri: string } } & Record<string, unknown>,
    token = new vscode.CancellationTokenSource().token,
  ): Promise<T | null | undefined> {
    await this.starting;
    const file = vscode.Uri.parse(params.textDocument.uri).toString();
    if (this.client?.state !== State.Running) {
      this.sayItDoesNotRun();
      return undefined;
    }
    if (this.policy.isHeld(file)) {
      const what = `${nameOf(file)} is held back: the hlo-analyzer server died ${DEATHS_OF_A_FILE} times while it read it.`;
      void vscode.window
        .showErrorMessage(what, "Try Again", "Show Log")
        .then((choice) => (choice === "Try Again" ? this.retry([file]) : this.answer(choice)));
      return undefined;
    }
    try {
      return await this.client.sendRequest<T | null>(method, params, token);
    } catch (error) {
      if (token.isCancellationRequested) {
        return undefined;
      } else if (this.client?.state !== State.Running) {
        this.sayItDoesNotRun();
      } else {
        const why = error instanceof Error ? error.message : String(error);
        void vscode.window.showErrorMessage(`hlo-analyzer: ${why}`);
      }
      return undefined;
    }
  }

  private sayItDoesNotRun(): void {
    const { current } = this;
    const why = current.kind === "failed" ? ` ${current.problem}` : "";
    void vscode.window
      .showErrorMessage(`The hlo-analyzer server is not running.${why}`, "Restart", "Show Log")
      .then((choice) => this.answer(choice));
  }

  /** Registers a handler for notifications of this and every later server. */
  onNotification<T>(method: string, handle: (params: T) => void): vscode.Disposable {
    this.handlers.push([method, handle as (params: unknown) => void]);
    return this.client?.onNotification(method, handle) ?? new vscode.Disposable(() => undefined);
  }

  private async notify(method: string, params: unknown): Promise<void> {
    if (this.client?.state === State.Running) {
      await this.client.sendNotification(method, params);
    }
  }

  private sendSettings(): Promise<void> {
    return this.notify(DidChangeConfigurationNotification.method, { settings: { [SECTION]: serverSettings() } });
  }

  /** Shows the version that the program reports, which also works if the language server does not start. */
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

  private fail(problem: string, ...more: string[]): void {
    this.log.error(problem);
    this.setState({ kind: "failed", problem });
    // Not awaited: the message stays until the user responds.
    void vscode.window
      .showErrorMessage(problem, ...more, "Open Settings", "Set-up Help", "Show Log")
      .then((choice) => this.answer(choice));
  }

  private answer(choice: string | undefined): void {
    if (choice === "Restart") {
      void this.restart();
    } else if (choice === "Open Settings") {
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

function nameOf(file: string): string {
  return vscode.Uri.parse(file).path.split("/").pop() ?? file;
}
