// The package as a program uses it: `node --test` runs this beside a core.wasm.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {RustomizeError, build, diff, explain, lint, load, version} from 'rustomize';
import {startWorker} from 'rustomize/worker';

const shop = {
  'base/kustomization.yaml': 'resources: [web.yaml]\n',
  'base/web.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n',
  'prod/kustomization.yaml': 'resources: [../base]\nreplicas: [{name: web, count: 3}]\n',
  'secret/kustomization.yaml': 'secretGenerator: [{name: s, literals: [a=hidden]}]\n',
};
const broken = {...shop, 'prod/kustomization.yaml': 'resources: [../base]\npatches: [{path: nothing.yaml}]\n'};
const web = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n';

/** The error of a call that must fail. */
async function failure(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  assert.fail('the call succeeds');
}

test('a tree is built from any kind of files', async () => {
  const bytes = Object.entries(shop).map(([path, text]) => [path, new TextEncoder().encode(text)]);
  for (const files of [shop, new Map(Object.entries(shop)), bytes]) {
    const {yaml, warnings, files: read} = await build(files, {root: 'prod'});
    assert.equal(yaml, web);
    assert.deepEqual(warnings, []);
    assert.deepEqual(read.sort(), ['/base/kustomization.yaml', '/base/web.yaml', '/prod/kustomization.yaml']);
  }
  assert.equal((await build({'kustomization.yaml': ''.padEnd(0), 'x': ''}, {}).catch((e) => e.name)), 'RustomizeError');
});

test('an error has the file, the line and hints', async () => {
  const error = await failure(() => build(broken, {root: 'prod'}));
  assert.ok(error instanceof RustomizeError);
  const [{file, line, hints, severity}] = error.errors;
  assert.deepEqual([file, line, severity], ['prod/kustomization.yaml', 2, 'error']);
  assert.ok(Array.isArray(hints));
  assert.match(error.message, /nothing\.yaml/);
  assert.equal(error.code, error.errors[0].code);
});

test('no files are an error, and so are wrong arguments', async () => {
  assert.match((await failure(() => build({}))).message, /kustomization/);
  for (const [files, options] of [
    [null, {}],
    ['text', {}],
    [{'a.yaml': 1}, {}],
    [[['', 'x']], {}],
    [[['a\0b', 'x']], {}],
    [shop, {rooot: 'prod'}],
  ]) {
    assert.ok((await failure(() => build(files, options))) instanceof TypeError);
  }
  assert.match((await failure(() => build(shop, {root: 'prod', compat: '9.9'}))).message, /9\.9/);
});

test('remote parts and charts are refused', async () => {
  const files = {'kustomization.yaml': 'resources: [https://example.com/a.yaml]\n'};
  assert.ok((await failure(() => build(files))) instanceof RustomizeError);
  const charts = {'kustomization.yaml': 'helmCharts: [{name: a, repo: https://example.com}]\n'};
  assert.ok((await failure(() => build(charts))) instanceof RustomizeError);
});

test('lint finds entries without effect', async () => {
  const files = {...shop, 'prod/kustomization.yaml': 'resources: [../base]\nimages: [{name: api, newTag: "2"}]\n'};
  const {findings} = await lint(files, {root: 'prod'});
  assert.deepEqual(findings.map(({code, line}) => [code, line]), [['no-effect', 2]]);
  assert.deepEqual((await lint(files, {root: 'prod', allow: ['no-effect']})).findings, []);
});

test('explain names the line that a value comes from', async () => {
  const options = {root: 'prod', resource: 'Deployment/web', field: 'spec.replicas'};
  const {explanation} = await explain(shop, options);
  assert.match(JSON.stringify(explanation), /prod\/kustomization\.yaml/);
  const secret = async (showSecrets) => JSON.stringify(await explain(shop, {root: 'secret', resource: 's', showSecrets}));
  assert.doesNotMatch(await secret(false), /aGlkZGVu/);
  assert.match(await secret(true), /aGlkZGVu/);
});

test('diff compares texts and trees', async () => {
  const {difference} = await diff({files: shop, root: 'base'}, web);
  assert.equal(difference.resources.length, 1);
  assert.match(JSON.stringify(difference), /replicas/);
  assert.equal((await diff(web, {files: shop, root: 'prod'})).difference.resources.length, 0);
  assert.ok((await failure(() => diff({files: broken, root: 'prod'}, web))) instanceof RustomizeError);
});

test('versions are known', async () => {
  const {version: own, kustomize} = await version();
  assert.match(own, /^\d+\.\d+\.\d+/);
  assert.ok(kustomize.includes('5.8.3'));
});

test('one core answers any number of calls, also after an error', async () => {
  const core = await load();
  for (let i = 0; i < 50; i++) {
    assert.throws(() => core.build(broken, {root: 'prod'}), RustomizeError);
    assert.equal(core.build(shop, {root: 'prod'}).yaml, web);
  }
});

test('hostile input ends as an error', async () => {
  const core = await load();
  const levels = Array.from({length: 30}, (_, i) => `a${i}: &a${i} [${'*a' + (i - 1) + ','.repeat(i > 0)}${'*a' + (i - 1)}]`);
  levels[0] = 'a0: &a0 [x, x]';
  const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
  for (const text of [
    head + levels.join('\n'),
    head + 'data: ' + '['.repeat(500_000),
    '- '.repeat(500_000),
    '&a'.repeat(300_000),
    '\0'.repeat(1_000_000),
  ]) {
    assert.throws(() => core.build({'kustomization.yaml': 'resources: [a.yaml]\n', 'a.yaml': text}), RustomizeError);
  }
  assert.throws(() => core.build({'kustomization.yaml': 'resources: [.]\n'}), RustomizeError);
});

test('a worker answers, and ends a call that takes too long', async () => {
  const worker = startWorker();
  assert.equal((await worker.build(shop, {root: 'prod'})).yaml, web);
  const error = await failure(() => worker.build(broken, {root: 'prod'}));
  assert.deepEqual([error.name, error.errors[0].line], ['RustomizeError', 2]);
  assert.ok((await failure(() => worker.build(null))) instanceof TypeError);
  assert.equal((await worker.lint(shop, {root: 'prod'})).findings.length, 0);
  await worker.close();
  assert.match((await failure(() => worker.build(shop))).message, /closed/);

  const hasty = startWorker({timeout: 1});
  const maps = Array.from({length: 20_000}, (_, i) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m${i}}\n`);
  const large = {'kustomization.yaml': 'resources: [a.yaml]\n', 'a.yaml': maps.join('---\n')};
  assert.equal((await failure(() => hasty.build(large))).code, 'timeout');
  await hasty.close();
});
