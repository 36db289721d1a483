// Pages that the program prints, each in a view beside the editor. The pages need no other file,
// load nothing, and bring a policy that allows their own script alone.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import * as vscode from "vscode";
import { settings } from "./settings";

/** The names that a kustomization file may have. */
const KUSTOMIZATION_FILES = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** The largest page, in bytes. */
const LARGEST_PAGE = 64 << 20;

/** Shows where the values of the nearest kustomization around the open file come from. */
export async function explain(): Promise<void> {
  const file = vscode.window.activeTextEditor?.document.uri;
  const root = file?.scheme === "file" ? nearestRoot(dirname(file.fsPath)) : undefined;
  if (root === undefined) {
    void vscode.window.showInformationMessage("rustomize: no kustomization in this directory or above it.");
    return;
  }
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(root))?.uri.fsPath ?? root;
  const name = relative(folder, root);
  await show("explain", `Explain ${name || basename(root)}`, ["explain", "-o", "html", ...settings().flags, name || "."], folder);
}

/** Shows what a change of the working tree does to the resources of all kustomizations. */
export async function diff(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) {
    void vscode.window.showInformationMessage("rustomize: open a folder first.");
    return;
  }
  const revision = await vscode.window.showInputBox({
    title: "Compare the working tree with",
    value: "HEAD",
    prompt: "A commit, or two: OLD..NEW",
  });
  if (!revision) {
    return;
  }
  await show("diff", `Changes since ${revision}`, ["diff", "-o", "html", ...settings().flags, `--since=${revision}`], folder.uri.fsPath);
}

/** The directory with a kustomization file that is nearest: the given one, or one above it. */
export function nearestRoot(directory: string): string | undefined {
  for (;;) {
    if (KUSTOMIZATION_FILES.some((name) => existsSync(join(directory, name)))) {
      return directory;
    }
    const above = dirname(directory);
    if (above === directory) {
      return undefined;
    }
    directory = above;
  }
}

async function show(kind: string, title: string, args: string[], directory: string): Promise<void> {
  const progress = { location: vscode.ProgressLocation.Window, title: `rustomize: ${title}` };
  const page = await vscode.window.withProgress(progress, () => run(args, directory));
  if (page === undefined) {
    return;
  }
  const view = vscode.window.createWebviewPanel(`rustomize.${kind}`, title, vscode.ViewColumn.Beside, {
    enableScripts: true,
    enableFindWidget: true,
    localResourceRoots: [],
    retainContextWhenHidden: true,
  });
  view.webview.html = page;
}

/** The page that the program prints; `undefined` after an error, which the user has seen. */
function run(args: string[], directory: string): Promise<string | undefined> {
  return new Promise((done) => {
    execFile(settings().program, args, { cwd: directory, maxBuffer: LARGEST_PAGE }, (error, stdout, stderr) => {
      // `diff` exits with 1 if something differs.
      if (stdout.startsWith("<!doctype html>")) {
        done(stdout);
        return;
      }
      const fault = stderr.trim() || error?.message || "it printed no page";
      void vscode.window.showErrorMessage(`rustomize: ${fault}`, { modal: fault.includes("\n") });
      done(undefined);
    });
  });
}
