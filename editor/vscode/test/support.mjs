import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The program under test. */
export const program = resolve(process.env.RUSTOMIZE ?? "../../target/debug/rustomize");

/** Makes a directory with these files, which is removed when the test `t` ends. */
export function tree(t, files) {
  const top = mkdtempSync(join(tmpdir(), "rustomize-vscode-"));
  t.after(() => rmSync(top, { recursive: true, force: true, maxRetries: 3 }));
  for (const [name, text] of Object.entries(files)) {
    const path = join(top, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return top;
}

/** A kustomization with a mistyped field. */
export const MISTYPED = {
  "kustomization.yaml": "resources: [web.yaml]\nnamePrefx: dev-\n",
  "web.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n",
};
