import * as vscode from "vscode";

export interface Settings {
  /** The program: a path, or a name on the PATH. */
  program: string;
  /** Flags of `rustomize build`. */
  flags: string[];
}

/** The settings of the user. A workspace that is not trusted has no say in them: package.json. */
export function settings(): Settings {
  const all = vscode.workspace.getConfiguration("rustomize");
  return {
    program: all.get<string>("path") || "rustomize",
    flags: all.get<string[]>("arguments") ?? [],
  };
}
