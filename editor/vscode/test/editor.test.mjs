// The extension in a real editor: code-server in a headless Chromium.
//
// CODE_SERVER   the program; without it, and without one on the PATH, the test is skipped
// CHROMIUM      the browser [chromium]

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { MISTYPED, program, tree } from "./support.mjs";

const codeServer = process.env.CODE_SERVER ?? find("code-server");
const browser = process.env.CHROMIUM ?? find("chromium");
const skip = codeServer && browser ? false : "code-server or Chromium is not installed";

test("the editor marks a mistyped field, and shows the page of explain", { skip, timeout: 180_000 }, async (t) => {
  const settings = { "rustomize.path": program, "workbench.startupEditor": "none" };
  const top = tree(t, {
    "data/User/settings.json": JSON.stringify(settings),
    "extensions/.keep": "",
    ...Object.fromEntries(Object.entries(MISTYPED).map(([name, text]) => [`project/${name}`, text])),
  });
  const places = ["--user-data-dir", join(top, "data"), "--extensions-dir", join(top, "extensions")];
  execFileSync(codeServer, [...places, "--install-extension", resolve("dist/rustomize.vsix")], { stdio: "inherit" });
  const address = `127.0.0.1:${await freePort()}`;
  const quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"];
  const server = spawn(codeServer, [...places, ...quiet, "--bind-addr", address, join(top, "project")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, XDG_CONFIG_HOME: join(top, "config") },
  });
  t.after(() => server.kill());
  await new Promise((ready) => server.stdout.setEncoding("utf8").on("data", (text) => text.includes("listening on") && ready()));

  const chrome = await chromium.launch({ executablePath: browser, args: ["--no-sandbox"] });
  t.after(() => chrome.close());
  const page = await chrome.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`http://${address}/?folder=${join(top, "project")}`);
  await page.locator(".monaco-workbench").waitFor({ timeout: 90_000 });
  await page.getByRole("treeitem", { name: "kustomization.yaml" }).dblclick({ timeout: 60_000 });
  await page.locator(".squiggly-error").first().waitFor({ timeout: 60_000 });
  await command(page, "Problems: Focus on Problems View");
  const problem = page.locator(".markers-panel", { hasText: "namePrefx" });
  await problem.waitFor();

  await type(page, "namePrefx", "namePrefix");
  await page.locator(".squiggly-error").first().waitFor({ state: "detached", timeout: 30_000 });
  await page.keyboard.press("Control+S");
  await command(page, "rustomize: Explain the Kustomization of This File");
  const view = page.frameLocator("iframe.webview").frameLocator("iframe");
  await view.locator("h1").waitFor({ timeout: 60_000 });
  assert.match(await view.locator("body").innerText(), /dev-web/);
  if (process.env.PICTURE) {
    await page.screenshot({ path: process.env.PICTURE });
  }
});

/** Runs a command of the palette. */
async function command(page, name) {
  await page.keyboard.press("F1");
  await page.keyboard.type(name);
  await page.getByRole("option", { name }).first().waitFor();
  await page.keyboard.press("Enter");
}

/** Replaces a word of the open file. */
async function type(page, word, other) {
  await page.locator(".monaco-editor .view-line", { hasText: word }).locator("span", { hasText: word }).last().dblclick();
  await page.keyboard.type(other);
}

function find(name) {
  try {
    return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}

/** A port of the loopback address that nothing listens on. */
function freePort() {
  return new Promise((done) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
