// The examples of the pages of the reference.

/**
 * The first example of a page: its files by path; undefined if the page has none that can be built
 * from files alone.
 *
 * @param {string} page the page as Markdown
 * @returns {{title: string, files: Record<string, string>, root?: string} | undefined}
 */
export function examplesIn(page) {
  const title = page.match(/^# (.*)$/m)?.[1] ?? '';
  const section = page.split(/^## Example$/m)[1]?.split(/^## /m)[0];
  if (section === undefined) return undefined;
  const files = {};
  for (const [, path, text] of section.matchAll(/^`([^`\s]+)`:\n\n```\w*\n([\s\S]*?)^```$/gm)) {
    files[path] = text;
  }
  const archive = section.match(/^```txtar\n([\s\S]*?)^```$/m)?.[1];
  if (archive !== undefined) {
    const parts = archive.split(/^-- (.*) --\n/m);
    for (let i = 1; i < parts.length; i += 2) files[parts[i]] = parts[i + 1];
  }
  const root = section.match(/^`rustomize build ([\w./-]+)/m)?.[1];
  const isRoot = (path) => /(^|\/)(kustomization\.ya?ml|Kustomization)$/.test(path);
  return Object.keys(files).some(isRoot) ? {title, files, root} : undefined;
}
