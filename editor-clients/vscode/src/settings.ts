import * as vscode from "vscode";

export const SECTION = "hlo-analyzer";

/** The user's settings as sent to the server, at its start and after each change. */
export interface ServerSettings {
  inlayHints: { domains: boolean; everywhere: boolean; splits: boolean; memory: boolean };
  optimizer: { hints: boolean; codeLens: boolean };
  gpu: { device: string; coalescingThreshold: number; codeLens: boolean };
  hover: { readableVariables: boolean };
  diagnostics: { limit: number };
  documents: { limit: number };
  requests: { timeLimit: number; memoryLimit: number };
  warnings: { enable: boolean; disabled: string[]; unoptimized: boolean };
  documentLinks: { roots: string[] };
  ptxas: { enable: boolean; path: string };
  nvdisasm: { path: string };
  xla: { python: string };
  /** Whether the folder is trusted. Programs that settings name are run only in trusted folders. */
  workspace: { trusted: boolean };
}

export function serverSettings(): ServerSettings {
  const section = vscode.workspace.getConfiguration(SECTION);
  return {
    inlayHints: {
      domains: section.get<boolean>("inlayHints.domains", true),
      everywhere: section.get<boolean>("inlayHints.everywhere", false),
      splits: section.get<boolean>("inlayHints.splits", true),
      memory: section.get<boolean>("inlayHints.memory", false),
    },
    optimizer: {
      hints: section.get<boolean>("optimizer.hints", true),
      codeLens: section.get<boolean>("optimizer.codeLens", true),
    },
    gpu: {
      device: section.get<string>("gpu.device", "h100-sxm"),
      coalescingThreshold: section.get<number>("gpu.coalescingThreshold", 2),
      codeLens: section.get<boolean>("gpu.codeLens", true),
    },
    hover: { readableVariables: section.get<boolean>("hover.readableVariables", true) },
    diagnostics: { limit: section.get<number>("diagnostics.limit", 1000) },
    documents: { limit: section.get<number>("documents.limit", 256) },
    requests: {
      timeLimit: section.get<number>("requests.timeLimit", 120),
      memoryLimit: section.get<number>("requests.memoryLimit", 8192),
    },
    warnings: {
      enable: section.get<boolean>("warnings.enable", true),
      disabled: section.get<string[]>("warnings.disabled", []),
      unoptimized: section.get<boolean>("warnings.unoptimized", false),
    },
    documentLinks: { roots: section.get<string[]>("documentLinks.roots", []) },
    ptxas: { enable: section.get<boolean>("ptxas.enable", true), path: section.get<string>("ptxas.path", "") },
    nvdisasm: { path: section.get<string>("nvdisasm.path", "") },
    xla: { python: section.get<string>("xla.python", "") },
    workspace: { trusted: vscode.workspace.isTrusted },
  };
}

/** Returns the server program that the user configured, if any. */
export function configuredServerPath(): string | undefined {
  const path = vscode.workspace.getConfiguration(SECTION).get<string>("server.path", "").trim();
  return path === "" ? undefined : path;
}
