import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { type CrashPolicy, PROBATION } from "./crash-policy";
import { KERNEL_SCHEME, PREVIEW_SCHEME } from "./schemes";

/** How long to wait for the diagnostics of a file on probation, in milliseconds. */
const PATIENCE = 15_000;

/**
 * Keeps files that crashed the server away from it, and opens suspects one at a time. The server receives
 * neither a blocked file nor its edits.
 */
export class GuardedSync {
  private readonly open = new Set<string>();
  private readonly waiting = new Map<string, () => Promise<void>>();
  private turn: Promise<void> | undefined;

  constructor(
    private readonly policy: CrashPolicy,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Forgets all files, for a new server. */
  reset(): void {
    this.open.clear();
    this.waiting.clear();
  }

  isOpen(uri: string): boolean {
    return this.open.has(uri);
  }

  /** Sends a file's text with `send`, now or when it is its turn. */
  async offer(uri: string, send: () => Promise<void>): Promise<void> {
    if (this.policy.isHeld(uri)) {
      this.log.warn(`${uri} is held back: it has ended the server`);
      return;
    }
    if (this.policy.isOnProbation(uri)) {
      this.waiting.set(uri, send);
      this.turn ??= this.openInTurn().finally(() => (this.turn = undefined));
      return;
    }
    this.open.add(uri);
    this.policy.sent(uri, Date.now());
    await send();
  }

  forget(uri: string): boolean {
    this.waiting.delete(uri);
    this.policy.closed(uri);
    return this.open.delete(uri);
  }

  private async openInTurn(): Promise<void> {
    for (;;) {
      const next = [...this.waiting].find(([uri]) => !this.policy.isHeld(uri));
      if (next === undefined) {
        return;
      }
      const [uri, send] = next;
      this.waiting.delete(uri);
      this.open.add(uri);
      this.policy.sent(uri, Date.now());
      const start = Date.now();
      await send().catch((error: unknown) => this.log.warn(`opening ${uri}: ${String(error)}`));
      const isDone = (): boolean => {
        const took = Date.now() - start;
        return !this.open.has(uri) || (took >= PROBATION && !this.policy.isUnproven(uri)) || took > PATIENCE;
      };
      while (!isDone()) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      if (this.open.has(uri)) {
        this.policy.acquitted(uri);
      }
    }
  }

  middleware(): Middleware {
    return {
      didOpen: (document, next) => {
        if (isOfServer(document.uri)) {
          return next(document);
        }
        const uri = document.uri.toString();
        return this.offer(uri, async () => {
          if (!document.isClosed) {
            await next(document);
          }
        });
      },
      didChange: async (event, next) => {
        const uri = event.document.uri.toString();
        if (isOfServer(event.document.uri)) {
          await next(event);
        } else if (this.open.has(uri)) {
          this.policy.sent(uri, Date.now());
          await next(event);
        }
      },
      didClose: async (document, next) => {
        if (isOfServer(document.uri) || this.forget(document.uri.toString())) {
          await next(document);
        }
      },
      handleDiagnostics: (uri, diagnostics, next) => {
        this.policy.proven(uri.toString());
        next(uri, diagnostics);
      },
      sendRequest: (type, param, token, next) => {
        const file = fileOf(param);
        if (file === undefined) {
          return next(type, param, token);
        }
        const answered = this.policy.requested(file, Date.now());
        const answer = next(type, param, token);
        answer.then(answered, answered);
        return answer;
      },
    };
  }
}

/** Whether the server wrote the document itself, and gives no diagnostics of it. */
function isOfServer({ scheme }: vscode.Uri): boolean {
  return scheme === KERNEL_SCHEME || scheme === PREVIEW_SCHEME;
}

/** Returns the document that a request is about. */
function fileOf(param: unknown): string | undefined {
  const { textDocument } = (param ?? {}) as { textDocument?: { uri?: unknown } };
  return typeof textDocument?.uri === "string" ? vscode.Uri.parse(textDocument.uri).toString() : undefined;
}
