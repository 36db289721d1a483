// The page: an editor of a tree of files, and the output, the problems and the explanations of its
// build. Nothing leaves the page, and nothing is fetched: builds run in a worker, with limits.

import {defaultKeymap, history, historyKeymap} from '@codemirror/commands';
import {yaml} from '@codemirror/lang-yaml';
import {HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentUnit, syntaxHighlighting} from '@codemirror/language';
import {lintGutter, lintKeymap, setDiagnostics} from '@codemirror/lint';
import {highlightSelectionMatches, searchKeymap} from '@codemirror/search';
import {EditorState} from '@codemirror/state';
import {EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers} from '@codemirror/view';
import {tags} from '@lezer/highlight';
import {startWorker} from '../worker-client.js';
import {placeOf} from './place.js';
import {MOST_CHARACTERS, decoded, encoded, isPath} from './share.js';

/** The time that a call may take, in milliseconds. */
const TIMEOUT = 5000;

/** The time without a change after which a build begins, in milliseconds. */
const PAUSE = 120;

/** The most characters of an output that are shown. */
const MOST_SHOWN = 2_000_000;

/** The most problems that are listed. */
const MOST_LISTED = 200;

/** The examples that people begin with, before those of the reference. */
const START = 'start';
const STARTS = {
  [START]: {
    title: 'A base and two overlays',
    root: 'overlays/prod',
    files: {
      'base/kustomization.yaml': 'resources:\n- deployment.yaml\n- service.yaml\nconfigMapGenerator:\n- name: settings\n  literals:\n  - COLOR=blue\n',
      'base/deployment.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  selector:\n    matchLabels:\n      app: web\n  template:\n    metadata:\n      labels:\n        app: web\n    spec:\n      containers:\n      - name: web\n        image: web:1.4\n        envFrom:\n        - configMapRef:\n            name: settings\n',
      'base/service.yaml':
        'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  selector:\n    app: web\n  ports:\n  - port: 80\n',
      'overlays/prod/kustomization.yaml':
        'namespace: prod\nnamePrefix: prod-\nresources:\n- ../../base\nimages:\n- name: web\n  newTag: "1.5"\nreplicas:\n- name: web\n  count: 3\nconfigMapGenerator:\n- name: settings\n  behavior: merge\n  literals:\n  - COLOR=green\n',
      'overlays/test/kustomization.yaml': 'namespace: test\nresources:\n- ../../base\n',
    },
  },
};

const element = (id) => document.getElementById(id);
const examples = {...STARTS, ...JSON.parse(element('examples').textContent)};

/** The tree: texts by path; the file that is open; the directory that is built. */
const tree = {files: new Map(), open: undefined, root: undefined};

/** The messages of the last build that have a file, by file. */
let messages = new Map();

/** The number of the last build that was asked for. */
let last = 0;

const worker = startWorker({timeout: TIMEOUT, core: compiledCore(), start: startThread});

/** The core, compiled once for all workers. */
async function compiledCore() {
  const text = atob(element('core').textContent);
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  element('core').remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compileStreaming(new Response(stream, {headers: {'content-type': 'application/wasm'}}));
}

/** Starts the worker from its text, which is in the page. */
function startThread() {
  const url = URL.createObjectURL(new Blob([JSON.parse(element('worker').textContent)], {type: 'text/javascript'}));
  const thread = new Worker(url);
  URL.revokeObjectURL(url);
  return thread;
}

/** The first call: the time of a build is not that of loading. */
const ready = worker.version().catch(() => {});

// The editors.

const highlighting = HighlightStyle.define([
  {tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)'},
  {tag: [tags.string, tags.content], color: 'var(--string)'},
  {tag: [tags.number, tags.bool, tags.keyword, tags.labelName, tags.typeName], color: 'var(--number)'},
  {tag: tags.comment, color: 'var(--comment)', fontStyle: 'italic'},
]);

const look = EditorView.theme({
  '&.cm-focused': {outline: '2px solid var(--accent)', outlineOffset: '-2px'},
  '.cm-gutters': {backgroundColor: 'var(--panel)', color: 'var(--faint)', borderRight: '1px solid var(--line)'},
  '.cm-activeLine': {backgroundColor: 'color-mix(in srgb, var(--selected) 35%, transparent)'},
  '.cm-activeLineGutter': {backgroundColor: 'var(--selected)'},
  '.cm-cursor': {borderLeftColor: 'var(--text)'},
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-tooltip, .cm-panels': {backgroundColor: 'var(--panel)', color: 'var(--text)', border: '1px solid var(--line)'},
});

const common = [
  lineNumbers(),
  foldGutter(),
  drawSelection(),
  bracketMatching(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  yaml(),
  indentUnit.of('  '),
  syntaxHighlighting(highlighting),
  look,
];

const editor = new EditorView({parent: element('editor')});
const output = new EditorView({parent: element('output')});

/** The state of the editor for a file. */
function stateOf(path) {
  const changed = EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    tree.files.set(path, update.state.doc.toString());
    if (/(^|\/)(kustomization\.ya?ml|Kustomization)$/.test(path)) showRoots();
    buildSoon();
  });
  return EditorState.create({
    doc: tree.files.get(path),
    extensions: [
      common,
      history(),
      lintGutter(),
      changed,
      EditorView.contentAttributes.of({'aria-label': path}),
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap]),
    ],
  });
}

/** The state of the output. A line is explained by a click, and by the key Enter. */
function outputState(text) {
  const explainLine = (view, position) => {
    explain(view.state.doc.lineAt(position).number - 1);
    return true;
  };
  const clicked = EditorView.domEventHandlers({
    click(event, view) {
      const position = view.posAtCoords({x: event.clientX, y: event.clientY});
      if (position !== null && view.state.selection.main.empty) explainLine(view, position);
    },
  });
  return EditorState.create({
    doc: text,
    extensions: [
      common,
      clicked,
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({'aria-label': 'Output. Enter explains a line.', inputmode: 'none'}),
      keymap.of([
        {key: 'Enter', run: (view) => explainLine(view, view.state.selection.main.head)},
        ...defaultKeymap,
        ...searchKeymap,
        ...foldKeymap,
      ]),
    ],
  });
}

// The tree.

/** Opens a file, at a line if one is given. */
function open(path, line, column) {
  if (!tree.files.has(path)) return;
  if (path !== tree.open) {
    tree.open = path;
    editor.setState(stateOf(path));
    showFiles();
    showMarks();
  }
  if (line !== undefined) {
    const {doc} = editor.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const position = Math.min(at.from + Math.max((column ?? 1) - 1, 0), at.to);
    editor.dispatch({selection: {anchor: position}, effects: EditorView.scrollIntoView(position, {y: 'center'})});
    editor.focus();
  }
}

/** Puts a tree in the place of the one that is shown. */
function show({files, root}) {
  tree.files = new Map(Object.entries(files));
  tree.open = undefined;
  tree.root = root;
  showRoots();
  const beside = (name) => tree.files.has(inRoot(name));
  const first = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'].find(beside);
  open(first === undefined ? [...tree.files.keys()][0] : inRoot(first));
  return buildNow();
}

const inRoot = (name) => (tree.root === '.' ? name : `${tree.root}/${name}`);

/** The directories with a kustomization. */
function roots() {
  const found = [...tree.files.keys()].map((path) => path.match(/^(?:(.*)\/)?(?:kustomization\.ya?ml|Kustomization)$/));
  return [...new Set(found.filter((match) => match !== null).map((match) => match[1] ?? '.'))].sort();
}

function showRoots() {
  const known = roots();
  if (!known.includes(tree.root)) tree.root = known[0] ?? '.';
  const options = (known.length === 0 ? ['.'] : known).map((root) => new Option(root, root, false, root === tree.root));
  element('root').replaceChildren(...options);
}

function showFiles() {
  const items = [...tree.files.keys()].sort().map((path) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = path;
    button.title = path;
    if (path === tree.open) button.setAttribute('aria-current', 'true');
    if (messages.get(path)?.some(({severity}) => severity === 'error')) button.classList.add('faulty');
    button.addEventListener('click', () => open(path));
    const item = document.createElement('li');
    item.append(button);
    return item;
  });
  element('files').replaceChildren(...items);
  element('files').querySelector('[aria-current]')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
}

/** Shows the messages of the open file on its lines. */
function showMarks() {
  const {doc} = editor.state;
  const marks = (messages.get(tree.open) ?? []).slice(0, MOST_LISTED).map((message) => {
    const at = doc.line(Math.min(Math.max(message.line, 1), doc.lines));
    const from = Math.min(at.from + Math.max((message.column ?? 1) - 1, 0), at.to);
    const end = message.endColumn === null || message.endColumn === undefined ? at.to : at.from + message.endColumn - 1;
    const to = Math.min(Math.max(end, from), at.to);
    const hints = message.hints.map((hint) => `\nhint: ${hint}`).join('');
    return {from, to, severity: message.severity, message: `${message.message}${hints}`};
  });
  editor.dispatch(setDiagnostics(editor.state, marks));
}

// Builds.

let pause;

function buildSoon() {
  clearTimeout(pause);
  pause = setTimeout(buildNow, PAUSE);
}

const isBusy = {now: false, again: false};

/** Builds and lints the tree. Of several changes during a build the last one is built. */
async function buildNow() {
  clearTimeout(pause);
  last += 1;
  if (isBusy.now) {
    isBusy.again = true;
    return;
  }
  isBusy.now = true;
  const number = last;
  const files = Object.fromEntries(tree.files);
  const root = tree.root;
  try {
    await ready;
    const start = performance.now();
    const built = await worker.build(files, {root});
    const time = performance.now() - start;
    const {findings} = await worker.lint(files, {root, warn: ['clear-text-secret']}).catch(() => ({findings: []}));
    // A later build shows the tree as it is now.
    if (number !== last) return;
    const all = [...built.warnings, ...findings];
    showProblems(all, 0);
    const isCut = built.yaml.length > MOST_SHOWN;
    const text = isCut ? `${built.yaml.slice(0, MOST_SHOWN)}\n# ${built.yaml.length - MOST_SHOWN} more characters\n` : built.yaml;
    output.setState(outputState(text));
    const count = all.length === 0 ? '' : `, ${all.length} ${all.length === 1 ? 'finding' : 'findings'}`;
    say(`Built in ${time.toFixed(time < 10 ? 1 : 0)} ms${count}`);
  } catch (error) {
    if (number !== last) return;
    const errors = error.errors?.filter(({message}) => message !== undefined) ?? [];
    const shown = errors.length === 0 ? [{severity: 'error', code: error.code ?? '', message: error.message, hints: []}] : errors;
    showProblems([...shown, ...(error.warnings ?? [])], error.leftOut ?? 0);
    output.setState(outputState(''));
    say(shown.length === 1 ? '1 error' : `${shown.length} errors`, true);
    select('problems');
  } finally {
    isBusy.now = false;
    if (isBusy.again) {
      isBusy.again = false;
      buildNow();
    }
  }
}

function say(text, isError = false) {
  element('status').textContent = text;
  element('status').classList.toggle('error', isError);
}

/** A button that leads to a place in a file. */
function placeButton(file, line, column) {
  const path = file.replace(/^\/+/, '');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'place';
  button.textContent = line ? `${path}:${line}` : path;
  button.disabled = !tree.files.has(path);
  button.addEventListener('click', () => open(path, line ?? 1, column));
  return button;
}

function span(text, className) {
  const made = document.createElement('span');
  made.textContent = text;
  if (className !== undefined) made.className = className;
  return made;
}

/** Lists errors, warnings and findings, and marks their lines. */
function showProblems(all, leftOut) {
  const hadErrors = selected() === 'problems' && element('problems').dataset.errors === 'true';
  messages = new Map();
  for (const message of all) {
    if (!message.file || !message.line) continue;
    const path = message.file.replace(/^\/+/, '');
    messages.set(path, [...(messages.get(path) ?? []), message]);
  }
  const items = all.slice(0, MOST_LISTED).map((message) => {
    const item = document.createElement('li');
    item.append(span(message.severity, `${message.severity}-word`), ` ${message.message} `);
    if (message.code) item.append(span(`[${message.code}] `, 'hint'));
    if (message.file) item.append(placeButton(message.file, message.line, message.column));
    for (const hint of message.hints ?? []) item.append(span(`\nhint: ${hint}`, 'hint'));
    return item;
  });
  const more = leftOut + Math.max(all.length - MOST_LISTED, 0);
  if (more > 0) {
    const item = document.createElement('li');
    item.textContent = `${more} more are not shown`;
    items.push(item);
  }
  const list = document.createElement('ul');
  list.append(...items);
  const none = document.createElement('p');
  none.textContent = 'No problems.';
  element('problems').replaceChildren(items.length === 0 ? none : list);
  element('tab-problems').textContent = all.length === 0 ? 'Problems' : `Problems (${all.length})`;
  const isError = all.some(({severity}) => severity === 'error');
  element('problems').dataset.errors = String(isError);
  if (hadErrors && !isError) select('output');
  showFiles();
  showMarks();
}

// Explanations.

/** Explains a line of the output. */
async function explain(line) {
  const lines = output.state.doc.toString().split('\n');
  const place = placeOf(lines, line);
  if (place === undefined) return;
  const {resource, field} = place;
  const panel = element('explain');
  try {
    const asked = {root: tree.root, resource, ...(field === '' ? {} : {field})};
    const {explanation} = await worker.explain(Object.fromEntries(tree.files), asked);
    panel.replaceChildren(...explained(resource, field, explanation));
  } catch (error) {
    const text = document.createElement('p');
    text.textContent = error.message;
    panel.replaceChildren(text);
  }
  select('explain');
  panel.scrollTop = 0;
}

/** The parts of the panel for the fields of a resource. */
function explained(resource, field, explanation) {
  const head = document.createElement('p');
  const name = document.createElement('code');
  name.textContent = resource;
  head.append(name);
  const {origin, broughtBy} = explanation.resource ?? {};
  if (origin?.file) head.append(' from ', placeButton(origin.file, origin.line, origin.column));
  if (broughtBy?.step) head.append(span(` by ${broughtBy.step}`, 'hint'));
  const list = document.createElement('ol');
  for (const {field: dotted, pointer, value, origin: start, writes} of (explanation.fields ?? []).slice(0, MOST_LISTED)) {
    const item = document.createElement('li');
    const path = document.createElement('code');
    path.textContent = dotted ?? pointer;
    const shown = document.createElement('code');
    shown.textContent = value;
    item.append(path, ': ', shown);
    if (start?.file) item.append('\nfrom ', placeButton(start.file, start.line, start.column));
    if (start && start.value !== value) item.append(span(` where it is ${start.value}`, 'hint'));
    for (const write of writes ?? []) {
      item.append(`\n${write.step}`);
      if (write.file) item.append(' ', placeButton(write.file, write.line, write.column));
      item.append(span(` ${write.before ?? 'nothing'} → ${write.after ?? 'nothing'}`, 'hint'));
    }
    list.append(item);
  }
  if (list.children.length === 0) {
    const none = document.createElement('li');
    none.textContent = field === '' ? 'The resource has no fields with values.' : 'No step has written this field.';
    list.append(none);
  }
  return [head, list];
}

// Tabs, dialogs and buttons.

const TABS = ['output', 'problems', 'explain'];

const selected = () => TABS.find((name) => element(`tab-${name}`).getAttribute('aria-selected') === 'true');

function select(wanted, takesFocus = false) {
  for (const name of TABS) {
    const tab = element(`tab-${name}`);
    tab.setAttribute('aria-selected', String(name === wanted));
    tab.tabIndex = name === wanted ? 0 : -1;
    element(name).hidden = name !== wanted;
  }
  if (takesFocus) element(`tab-${wanted}`).focus();
  if (wanted === 'output') output.requestMeasure();
}

for (const name of TABS) {
  element(`tab-${name}`).addEventListener('click', () => select(name));
  element(`tab-${name}`).addEventListener('keydown', ({key}) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[key];
    if (step !== undefined) select(TABS[(TABS.indexOf(name) + step + TABS.length) % TABS.length], true);
  });
}

/** Asks for the path of a file; `undefined` if the user does not give one. */
function askPath(question, path) {
  const dialog = element('ask');
  element('question').textContent = question;
  element('name').value = path;
  element('fault').textContent = '';
  dialog.returnValue = '';
  dialog.showModal();
  element('name').select();
  return new Promise((resolve) => {
    const form = dialog.querySelector('form');
    const check = (event) => {
      const name = element('name').value.trim();
      const isTaken = tree.files.has(name) && name !== path;
      if (isPath(name) && !isTaken) return;
      event.preventDefault();
      element('fault').textContent = isTaken ? 'This file exists.' : 'Not a path, as in overlays/prod/kustomization.yaml.';
    };
    const close = () => {
      form.removeEventListener('submit', check);
      resolve(dialog.returnValue === 'ok' ? element('name').value.trim() : undefined);
    };
    form.addEventListener('submit', check);
    dialog.addEventListener('close', close, {once: true});
  });
}

element('cancel').addEventListener('click', () => element('ask').close('cancel'));

element('add').addEventListener('click', async () => {
  const path = await askPath('Path of the new file', '');
  if (path === undefined) return;
  tree.files.set(path, '');
  changedTree(path);
});

element('rename').addEventListener('click', async () => {
  const old = tree.open;
  const path = await askPath('New path of the file', old);
  if (path === undefined || path === old) return;
  tree.files = new Map([...tree.files].map(([name, text]) => [name === old ? path : name, text]));
  changedTree(path);
});

element('remove').addEventListener('click', () => {
  if (tree.files.size === 1) return say('The last file stays');
  tree.files.delete(tree.open);
  changedTree([...tree.files.keys()].sort()[0]);
});

/** Shows a tree whose list of files has changed. */
function changedTree(path) {
  tree.open = undefined;
  showRoots();
  open(path);
  buildNow();
  editor.focus();
}

element('root').addEventListener('change', ({target}) => {
  tree.root = target.value;
  buildNow();
});

element('example').addEventListener('change', ({target}) => {
  location.hash = `example=${target.value}`;
});

element('share').addEventListener('click', async () => {
  const fragment = await encoded({files: Object.fromEntries(tree.files), root: tree.root}).catch((error) => error);
  if (fragment instanceof Error || fragment.length > MOST_CHARACTERS) return say('The tree is too large for an address', true);
  replaceFragment(`#${fragment}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say('The address is copied');
  } catch {
    say('The address of this page has the tree');
  }
});

/** Changes the address, without loading the tree that it has. */
function replaceFragment(fragment) {
  window.history.replaceState(null, '', fragment);
}

element('theme').addEventListener('click', () => {
  const {dataset} = document.documentElement;
  const isDark = (dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  dataset.theme = isDark ? 'light' : 'dark';
});

/** Shows the tree that the address names. */
async function load() {
  const fragment = location.hash.slice(1);
  try {
    const name = fragment.startsWith('example=') ? decodeURIComponent(fragment.slice('example='.length)) : undefined;
    if (fragment.startsWith('t=')) {
      show(await decoded(fragment));
    } else {
      const example = Object.hasOwn(examples, name ?? START) ? (name ?? START) : START;
      element('example').value = example;
      show(examples[example]);
    }
  } catch (error) {
    await show(examples[START]);
    say(`The address has no tree: ${error.message}`, true);
  }
}

const names = Object.keys(examples);
const group = (label, list) => {
  const made = document.createElement('optgroup');
  made.label = label;
  made.append(...list.map((name) => new Option(examples[name].title, name)));
  return made;
};
element('example').append(
  group('Begin', Object.keys(STARTS)),
  group('Reference', names.filter((name) => !(name in STARTS) && !name.startsWith('codes/'))),
  group('Errors and findings', names.filter((name) => name.startsWith('codes/'))),
);
output.setState(outputState(''));
window.addEventListener('hashchange', load);
load();
