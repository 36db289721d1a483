// Builds kustomizations in browsers and Node, by the core of rustomize: a WebAssembly program that
// reads requests and writes answers. A request runs in an instance of its own: nothing of it is left
// for the next one, and one that fails harms none.

import {joined, run} from './wasi.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The error of a request: `errors` has each fault with its place and hints. */
export class RustomizeError extends Error {
  constructor(message, {errors = [], warnings = [], leftOut = 0, cause} = {}) {
    super(message, cause === undefined ? undefined : {cause});
    this.name = 'RustomizeError';
    this.errors = errors;
    this.warnings = warnings;
    this.leftOut = leftOut;
  }

  /** The code of the first fault. */
  get code() {
    return this.errors[0]?.code ?? 'internal';
  }
}

/** A message to the core: its length, its kind, and its payload in chunks. */
function message(kind, chunks) {
  const head = new Uint8Array(5);
  const length = chunks.reduce((all, chunk) => all + chunk.length, 1);
  new DataView(head.buffer).setUint32(0, length, true);
  head[4] = kind.charCodeAt(0);
  return [head, ...chunks];
}

/** The messages that carry files: an object, a Map, or other pairs of path and content. */
function filesIn(files) {
  if (files === null || typeof files !== 'object') {
    throw new TypeError('files: expected an object, a Map or pairs of path and content');
  }
  const pairs = typeof files[Symbol.iterator] === 'function' ? files : Object.entries(files);
  const messages = [];
  for (const [path, content] of pairs) {
    if (typeof path !== 'string' || path === '' || path.includes('\0')) {
      throw new TypeError(`files: not a path: ${JSON.stringify(path)}`);
    }
    const bytes = typeof content === 'string' ? encoder.encode(content) : content;
    if (!(bytes instanceof Uint8Array)) {
      throw new TypeError(`files: the content of '${path}' is neither a string nor a Uint8Array`);
    }
    messages.push(...message('F', [encoder.encode(`${path}\0`), bytes]));
  }
  // Without a file the core would ask for files.
  return messages.length === 0 ? message('F', [encoder.encode('/.empty\0')]) : messages;
}

/** The pieces of output and the last message in the core's answer. */
function answerIn(stdout) {
  const pieces = [];
  const view = new DataView(stdout.buffer, stdout.byteOffset, stdout.byteLength);
  for (let at = 0; at + 5 <= stdout.length; ) {
    const end = at + 4 + view.getUint32(at, true);
    const payload = stdout.subarray(at + 5, end);
    const kind = String.fromCharCode(stdout[at + 4]);
    if (end > stdout.length) break;
    if (kind === '.') return {pieces, last: JSON.parse(decoder.decode(payload))};
    if (kind === 'y') pieces.push(payload);
    at = end;
  }
  return {pieces, last: undefined};
}

const BUILD_OPTIONS = [
  'compat',
  'loadRestrictor',
  'reorder',
  'managedByLabel',
  'fileSizeLimit',
  'buildSizeLimit',
  'crdMergeKeys',
];

/** The members of a request for some options, of which `own` are no options of the build. */
function request(op, given, own) {
  const members = {op, options: {}};
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === undefined) continue;
    if (BUILD_OPTIONS.includes(name)) members.options[name] = value;
    else if (own.includes(name)) members[name] = value;
    else throw new TypeError(`unknown option '${name}': the known ones are ${[...own, ...BUILD_OPTIONS].join(', ')}`);
  }
  if (own.includes('root')) members.root ??= '.';
  return members;
}

/** The core of rustomize, compiled. Its methods block: in a page call them in a worker. */
export class Rustomize {
  #module;

  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.#module = module;
  }

  #ask(files, members) {
    const input = [...filesIn(files), ...message('R', [encoder.encode(JSON.stringify(members))])];
    const {trap, stdout, stderr} = run(this.#module, input);
    const {pieces, last} = answerIn(stdout);
    if (trap !== undefined || last === undefined) {
      const said = decoder.decode(stderr).trim();
      const why = said || (trap === undefined ? 'no answer' : String(trap));
      throw new RustomizeError(`the core has ended: ${why}`, {cause: trap});
    }
    if (!last.ok) {
      throw new RustomizeError(last.text, last);
    }
    return {pieces, last};
  }

  /** The resources of a kustomization as YAML, in the bytes of kustomize. */
  build(files, options) {
    const {pieces, last} = this.#ask(files, request('build', options, ['root']));
    return {yaml: decoder.decode(joined(pieces)), warnings: last.warnings, files: last.files};
  }

  /** The findings of a kustomization: entries without effect and likely mistakes. */
  lint(files, options) {
    const {last} = this.#ask(files, request('lint', options, ['root', 'warn', 'allow']));
    return {findings: last.findings, warnings: last.warnings, files: last.files};
  }

  /** Where the values of the output come from, and which steps have changed them. */
  explain(files, options) {
    const own = ['root', 'resource', 'field', 'showSecrets'];
    const {last} = this.#ask(files, request('explain', options, own));
    return {explanation: last.explanation, warnings: last.warnings, files: last.files};
  }

  /** The differences of two outputs. A side is YAML, or `{files, ...options}`, which is built. */
  diff(before, after, options) {
    const members = request('diff', options, ['showSecrets']);
    const side = (given) => {
      if (typeof given === 'string') return {text: given};
      const {files, ...own} = given;
      return {text: this.build(files, {...members.options, ...own}).yaml};
    };
    const {last} = this.#ask({}, {...members, before: side(before), after: side(after)});
    return {difference: last.difference, warnings: last.warnings};
  }

  /** The version of rustomize, and the versions of kustomize whose bytes it builds. */
  version() {
    const {last} = this.#ask({}, {op: 'version'});
    return {version: last.version, kustomize: last.kustomize};
  }
}

/** The bytes of the core, which is a file of this package. */
async function coreOfPackage() {
  const url = new URL('./core.wasm', import.meta.url);
  if (url.protocol === 'file:' && globalThis.process?.versions?.node !== undefined) {
    const {readFile} = await import('node:fs/promises');
    return readFile(url);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

/**
 * Compiles the core: that of this package, or the bytes or module that are given.
 *
 * @param {BufferSource | WebAssembly.Module} [core]
 */
export async function load(core) {
  if (core instanceof WebAssembly.Module) return new Rustomize(core);
  return new Rustomize(await WebAssembly.compile(core ?? (await coreOfPackage())));
}

let loaded;

/** The core of this package, compiled once. */
function shared() {
  loaded ??= load();
  // A core that could not be read is read again by the next call.
  loaded.catch(() => (loaded = undefined));
  return loaded;
}

/** As {@link Rustomize.build}, by the core of this package. */
export const build = async (files, options) => (await shared()).build(files, options);

/** As {@link Rustomize.lint}, by the core of this package. */
export const lint = async (files, options) => (await shared()).lint(files, options);

/** As {@link Rustomize.explain}, by the core of this package. */
export const explain = async (files, options) => (await shared()).explain(files, options);

/** As {@link Rustomize.diff}, by the core of this package. */
export const diff = async (before, after, options) => (await shared()).diff(before, after, options);

/** As {@link Rustomize.version}, by the core of this package. */
export const version = async () => (await shared()).version();
