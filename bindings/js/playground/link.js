// Adds the page to the book, and to each page of the reference a link that opens its example there.
//
// Arguments: the page, and the directory of the book.

import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';

const [page, book] = process.argv.slice(2);
if (book === undefined) throw new Error('usage: link.js PAGE BOOK');
const text = await readFile(page, 'utf8');
const examples = JSON.parse(text.match(/<script type="application\/json" id="examples">(.*?)<\/script>/s)[1]);
await copyFile(page, join(book, 'playground.html'));
for (const name of Object.keys(examples)) {
  const file = join(book, 'reference', `${name}.html`);
  const up = '../'.repeat(name.split('/').length);
  const link = `<p><a href="${up}playground.html#example=${name}">Try it</a> in your browser.</p>`;
  const html = await readFile(file, 'utf8');
  const linked = html.replace(/<h2 id="example">.*?<\/h2>/s, (heading) => `${heading}\n${link}`);
  if (linked === html) throw new Error(`${file} has no example`);
  await writeFile(file, linked);
}
