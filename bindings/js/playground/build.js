// Makes the page: one HTML file with the editor, the core, its worker and the examples of the
// reference in it. It works from any server, and from a disk.
//
// Arguments: the core (a .wasm file), the directory of the reference, and the file to write.

import {build} from 'esbuild';
import {readFile, readdir, writeFile} from 'node:fs/promises';
import {createHash} from 'node:crypto';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {load} from '../index.js';
import {examplesIn} from './examples.js';

const [core, reference, target] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: build.js CORE REFERENCE TARGET');
const here = dirname(fileURLToPath(import.meta.url));

/** The packages that are in the page. */
const used = new Set();

/** A program as one script. */
async function bundled(entry) {
  const {outputFiles, metafile} = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    format: 'iife',
    minify: true,
    write: false,
    target: 'es2022',
    external: ['node:*'],
    define: {'import.meta.url': '"about:blank"'},
    legalComments: 'none',
    metafile: true,
  });
  const packages = Object.keys(metafile.inputs).map((input) => input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  packages.filter((name) => name !== undefined).forEach((name) => used.add(name));
  return outputFiles[0].text;
}

/** The licences of the packages in the page, each text once. */
async function licences() {
  const texts = new Map();
  for (const name of [...used].sort()) {
    const text = await readFile(join(here, 'node_modules', name, 'LICENSE'), 'utf8');
    texts.set(text, [...(texts.get(text) ?? []), name]);
  }
  return [...texts].map(([text, names]) => `${names.join(', ')}\n\n${text}`).join('\n\n');
}

/** Whether an example can be built in a page, where there is no helm and no plugin. */
function builds(rustomize, {files, root}) {
  try {
    rustomize.build(files, {root});
    return true;
  } catch {
    return false;
  }
}

/** The examples of the pages of the reference, by the names of the pages. */
async function examples() {
  const rustomize = await load(await readFile(core));
  const found = {};
  for (const [directory, prefix] of [[reference, ''], [join(reference, 'codes'), 'codes/']]) {
    for (const file of (await readdir(directory)).sort()) {
      if (!file.endsWith('.md') || file === 'README.md') continue;
      const example = examplesIn(await readFile(join(directory, file), 'utf8'));
      // The examples of codes show a fault.
      const isShown = example !== undefined && (prefix !== '' || builds(rustomize, example));
      if (isShown) found[prefix + file.slice(0, -3)] = example;
    }
  }
  return found;
}

/** A text for the inside of a script element. */
const inScript = (text) => text.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--');

/** Data for the inside of a script element that is not run. */
const inData = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');

const [app, worker, style, page] = await Promise.all([
  bundled('app.js'),
  bundled('../worker.js'),
  readFile(join(here, 'style.css'), 'utf8'),
  readFile(join(here, 'page.html'), 'utf8'),
]);
const script = inScript(app);
const parts = {
  STYLE: style,
  HASH: `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  EXAMPLES: inData(await examples()),
  WORKER: inData(worker),
  CORE: gzipSync(await readFile(core), {level: 9}).toString('base64'),
  APP: script,
  LICENCES: inScript(await licences()),
};
const html = page.replaceAll(/\{\{([A-Z]+)\}\}/g, (_, name) => parts[name]);
await writeFile(target, html);
console.log(`${target}: ${html.length} bytes, ${gzipSync(html, {level: 9}).length} compressed`);
