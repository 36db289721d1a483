// A tree as the fragment of an address, and back, with limits: whoever sends an address decides what
// is in it.

/** The most characters of a fragment. */
export const MOST_CHARACTERS = 1_000_000;

/** The most bytes of a tree. */
export const MOST_BYTES = 1_000_000;

const MOST_FILES = 1000;
const LONGEST_PATH = 1000;

/** The bytes of a stream, or an error if they are too many. */
async function collected(stream, most) {
  const chunks = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`the tree has more than ${most} bytes`);
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** The fragment for a tree, without '#'. */
export async function encoded(tree) {
  const stream = new Blob([JSON.stringify(tree)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = await collected(stream, MOST_BYTES);
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return `t=${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** The tree of a fragment that {@link encoded} has made. */
export async function decoded(fragment) {
  if (fragment.length > MOST_CHARACTERS) {
    throw new Error(`the address has more than ${MOST_CHARACTERS} characters`);
  }
  const text = atob(fragment.slice('t='.length).replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return checked(JSON.parse(new TextDecoder().decode(await collected(stream, MOST_BYTES))));
}

/** A tree, if the value is one. */
function checked(value) {
  const files = value?.files;
  const isObject = typeof files === 'object' && files !== null && !Array.isArray(files);
  const entries = isObject ? Object.entries(files) : [];
  if (entries.length === 0 || entries.length > MOST_FILES) throw new Error('the address has no tree of files');
  for (const [path, text] of entries) {
    if (!isPath(path) || typeof text !== 'string') throw new Error('the address has a file without a valid name or text');
  }
  return {files: Object.fromEntries(entries), root: typeof value.root === 'string' ? value.root : undefined};
}

/** Whether a text can be the path of a file in the tree. */
export function isPath(path) {
  const isPlain = path.length <= LONGEST_PATH && !/[\0-\x1f\x7f]/.test(path);
  return isPlain && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
