// The field that a line of a build's output belongs to. The output is kustomize's own YAML: two
// spaces for each level, lists as deep as their keys, no flow collections but empty ones.

/** The text of a key, which may be quoted. */
function key(text) {
  if (text.startsWith('"')) {
    const end = text.match(/^"(?:[^"\\]|\\.)*"/)?.[0];
    try {
      return end === undefined ? undefined : [JSON.parse(end), text.slice(end.length)];
    } catch {
      return undefined;
    }
  }
  if (text.startsWith("'")) {
    const end = text.match(/^'(?:[^']|'')*'/)?.[0];
    return end === undefined ? undefined : [end.slice(1, -1).replaceAll("''", "'"), text.slice(end.length)];
  }
  const end = text.search(/:( |$)/);
  return end < 0 ? undefined : [text.slice(0, end), text.slice(end)];
}

const pointer = (path) => path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/**
 * The resource and the field of a line.
 *
 * @param {string[]} lines the lines of the output
 * @param {number} line the index of a line
 * @returns {{resource: string, field: string} | undefined} `KIND/NAMESPACE/NAME` and a JSON pointer
 */
export function placeOf(lines, line) {
  let start = line;
  while (start > 0 && lines[start] !== '---') start -= 1;
  if (lines[start] === '---') start += 1;
  // The keys and indexes around a line, each with the column in which it begins.
  let around = [];
  let found;
  let block;
  const identity = {};
  for (let i = start; i < lines.length && lines[i] !== '---'; i++) {
    let rest = lines[i].trimStart();
    let column = lines[i].length - rest.length;
    const isContent = block !== undefined && (rest === '' || column > block);
    if (!isContent && rest !== '') {
      block = undefined;
      for (;;) {
        const item = /^- |^-$/.test(rest);
        const last = around.findLast((entry) => entry.column === column && entry.isItem === item);
        around = around.filter((entry) => entry.column < column || (item && entry.column === column && !entry.isItem));
        if (!item) break;
        around.push({column, isItem: true, part: last === undefined ? 0 : last.part + 1});
        const next = rest.slice(1).trimStart();
        column += rest.length - next.length;
        rest = next;
      }
      const named = key(rest);
      if (named !== undefined) {
        around.push({column, isItem: false, part: named[0]});
        const value = named[1].slice(1).trim();
        const path = pointer(around.map(({part}) => part));
        if (['/kind', '/metadata/name', '/metadata/namespace'].includes(path)) {
          identity[path] = value.replace(/^(["'])(.*)\1$/, '$2');
        }
      }
      if (/(^|[ :-])[|>][+-]?\d*[+-]?$/.test(rest)) block = around.at(-1)?.column ?? column;
    }
    if (i === line) found = around.map(({part}) => part);
  }
  if (found === undefined || identity['/kind'] === undefined) return undefined;
  const {'/kind': kind, '/metadata/name': name, '/metadata/namespace': namespace} = identity;
  const words = namespace === undefined ? [kind, name] : [kind, namespace, name];
  return {resource: words.join('/'), field: pointer(found)};
}
