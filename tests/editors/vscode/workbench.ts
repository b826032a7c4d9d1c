// A VS Code of its own: server, settings, extensions and browser, all in a folder that goes away afterwards.

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { eventually } from "./report.ts";

export interface Tools {
  /** The package folder of VS Code's server; it runs on the node that runs this. */
  codeServer: string;
  chromium: string;
}

const SETTINGS = {
  "chat.disableAIFeatures": true,
  "editor.fontFamily": "DejaVu Sans Mono",
  "editor.inlayHints.enabled": "on",
  "editor.minimap.enabled": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "workbench.colorTheme": "Default Dark Modern",
  // The browser asks before it opens what takes long to send.
  "workbench.editorLargeFileConfirmation": 1024,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

export class Workbench {
  private readonly root = mkdtempSync(join(tmpdir(), "hlo-analyzer-vscode-"));
  /** The folder that the window shows. */
  readonly folder = join(this.root, "dump");
  private readonly data = join(this.root, "data");
  private readonly tools: Tools;
  private readonly environment: NodeJS.ProcessEnv;
  private server: ChildProcess | undefined;
  private browser: Browser | undefined;
  private output = "";
  private base = "";

  constructor(tools: Tools) {
    this.tools = tools;
    // Without a server that the developer has installed: what is found on PATH must not pass for ours.
    const path = (process.env["PATH"] ?? "").split(delimiter).filter((part) => !existsSync(join(part, "hlo-analyzer")));
    this.environment = {
      ...process.env,
      PATH: path.join(delimiter),
      HOME: this.root,
      XDG_CONFIG_HOME: join(this.root, "config"),
      XDG_CACHE_HOME: join(this.root, "cache"),
      VSCODE_PROXY_URI: "",
    };
    mkdirSync(this.folder);
    mkdirSync(join(this.data, "User"), { recursive: true });
    writeFileSync(join(this.data, "User/settings.json"), JSON.stringify(SETTINGS));
  }

  private arguments(...more: string[]): string[] {
    const { root, data, tools } = this;
    return [tools.codeServer, "--user-data-dir", data, "--extensions-dir", join(root, "extensions"), ...more];
  }

  install(vsix: string): void {
    const done = spawnSync(process.execPath, this.arguments("--install-extension", vsix), {
      encoding: "utf8",
      env: this.environment,
      timeout: 120_000,
    });
    assert.equal(done.status, 0, `cannot install ${vsix}:\n${done.stdout}${done.stderr}`);
  }

  /** Starts server and browser and shows one file of the folder. */
  async open(file: string): Promise<Page> {
    const address = `127.0.0.1:${await freePort()}`;
    this.base = `http://${address}`;
    const options = ["--auth", "none", "--bind-addr", address, "--disable-telemetry", "--disable-update-check"];
    options.push("--disable-workspace-trust", "--disable-getting-started-override");
    // Detached: a process group of its own, so that `close` reaches the extension host and our server too.
    const server = spawn(process.execPath, this.arguments(...options), {
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    server.stdout.on("data", (part: Buffer) => (this.output += part.toString()));
    server.stderr.on("data", (part: Buffer) => (this.output += part.toString()));
    this.server = server;
    // Also when the test gives up without closing.
    process.once("exit", () => this.signal("SIGKILL"));
    await eventually("VS Code's server is up", () => this.isUp(), 60_000);

    this.browser = await chromium.launch({
      executablePath: this.tools.chromium,
      headless: true,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"].concat([
        "--disable-background-networking",
        "--disable-component-update",
      ]),
    });
    const context = await this.browser.newContext({ viewport: { width: 1500, height: 850 } });
    const page = await context.newPage();
    const payload = [["openFile", `vscode-remote://${address}${join(this.folder, file)}`]];
    const query = new URLSearchParams({ folder: this.folder, payload: JSON.stringify(payload) });
    await page.goto(`${this.base}/?${query}`, { timeout: 60_000 });
    await page.waitForSelector(".monaco-workbench", { timeout: 90_000 });
    return page;
  }

  private async isUp(): Promise<true | undefined> {
    assert.equal(this.server?.exitCode, null, `VS Code's server ended:\n${this.log()}`);
    return fetch(`${this.base}/healthz`).then(
      (response) => (response.ok ? true : undefined),
      () => undefined,
    );
  }

  /** The end of what VS Code's server printed. */
  log(): string {
    return this.output.slice(-3000);
  }

  async close(): Promise<void> {
    await this.browser?.close().catch(() => undefined);
    // With SIGTERM alone one process may linger and hold the port.
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (this.signal(signal)) {
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Whether any process of the server's group was there to receive it. */
  private signal(signal: NodeJS.Signals): boolean {
    try {
      return this.server?.pid !== undefined && process.kill(-this.server.pid, signal);
    } catch {
      return false;
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject(address)));
    });
  });
}
