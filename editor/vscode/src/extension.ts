// Starts `rustomize lsp`, and shows pages of `rustomize explain` and `rustomize diff` beside the
// editor. What the server can do is in docs/editor.md of the project.

import * as vscode from "vscode";
import { LanguageClient, type ServerOptions } from "vscode-languageclient/node";
import { explain, diff } from "./pages";
import { settings } from "./settings";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("rustomize.explain", explain),
    vscode.commands.registerCommand("rustomize.diff", diff),
    vscode.commands.registerCommand("rustomize.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("rustomize.path") || event.affectsConfiguration("rustomize.arguments")) {
        void restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

async function start(): Promise<void> {
  const { program, flags } = settings();
  const server: ServerOptions = { command: program, args: ["lsp", ...flags] };
  const started = new LanguageClient("rustomize", "rustomize", server, {
    documentSelector: [{ scheme: "file", language: "yaml" }],
    // A file that another program changes is read again.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*") },
  });
  client = started;
  try {
    await started.start();
  } catch (error) {
    client = undefined;
    const open = "Open Settings";
    const message = `rustomize: cannot start '${program}': ${error instanceof Error ? error.message : String(error)}`;
    if ((await vscode.window.showErrorMessage(message, open)) === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "rustomize.path");
    }
  }
}
