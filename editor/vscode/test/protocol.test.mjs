// The server as the extension starts it: `rustomize lsp` on stdin and stdout.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { MISTYPED, program, tree } from "./support.mjs";

test("a mistyped field is marked, and completion has the right one", async (t) => {
  const top = tree(t, MISTYPED);
  const server = spawn(program, ["lsp"], { cwd: top, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => server.kill());
  const messages = read(server.stdout);
  const send = (message) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const receive = async (isWanted) => {
    for (;;) {
      const { value: message, done } = await messages.next();
      if (done) {
        break;
      }
      if (isWanted(message)) {
        return message;
      }
    }
    assert.fail("the server ended");
  };
  const folder = { uri: pathToFileURL(top).href, name: "tree" };
  const capabilities = { textDocument: { completion: {}, publishDiagnostics: {} } };
  send({ id: 1, method: "initialize", params: { processId: null, rootUri: folder.uri, workspaceFolders: [folder], capabilities } });
  await receive((message) => message.id === 1);
  send({ method: "initialized", params: {} });
  const file = join(top, "kustomization.yaml");
  const textDocument = { uri: pathToFileURL(file).href, languageId: "yaml", version: 1, text: readFileSync(file, "utf8") };
  send({ method: "textDocument/didOpen", params: { textDocument } });
  const marked = await receive((m) => m.method === "textDocument/publishDiagnostics" && m.params.diagnostics.length > 0);
  assert.equal(marked.params.diagnostics[0].code, "unknown-field");
  assert.equal(marked.params.diagnostics[0].range.start.line, 1);
  send({ id: 2, method: "textDocument/completion", params: { textDocument, position: { line: 1, character: 4 } } });
  const { result } = await receive((message) => message.id === 2);
  const labels = (result.items ?? result).map((item) => item.label);
  assert.ok(labels.includes("namePrefix"), labels.join(" "));
  send({ id: 3, method: "shutdown" });
  await receive((message) => message.id === 3);
  send({ method: "exit" });
  assert.equal(await new Promise((done) => server.on("exit", done)), 0);
});

test("the pages that the extension shows are whole documents with a policy", async (t) => {
  const top = tree(t, { ...MISTYPED, "kustomization.yaml": "resources: [web.yaml]\nnamePrefix: dev-\n" });
  const page = await output(["explain", "-o", "html", top], top);
  assert.match(page, /^<!doctype html>/);
  assert.match(page, /Content-Security-Policy/);
});

/** The messages on a stream. */
async function* read(stream) {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, Math.max(end, 0)).toString())?.[1]);
      if (end < 0 || rest.length < end + 4 + length) {
        break;
      }
      yield JSON.parse(rest.subarray(end + 4, end + 4 + length).toString());
      rest = rest.subarray(end + 4 + length);
    }
  }
}

function output(args, cwd) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
    child.on("error", fail).on("exit", (status) => (status === 0 ? done(text) : fail(new Error(`exit status ${status}`))));
  });
}
