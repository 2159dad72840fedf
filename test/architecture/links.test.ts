import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findRoot, readRepository, Repository } from './model/repository.js'
import { findBrokenLinks } from './rules/links.js'
import { findMissingPaths, findPackagesNotDrawn } from './rules/page-paths.js'
import { expectNoFindings, messagesOf } from './support.js'

t.test('canary: links to missing pages', (t) => {
  const text = [
    '[a](gone.md)',
    '`[b](code)` [c](../packages/x/README.md#role)',
    '```',
    '[d](fenced.md)',
    '```',
    '[e](#here) [f](mailto:a@b)',
  ].join('\n')
  const broken = findBrokenLinks(new Repository({ 'docs/a.md': text }), (path) => path === 'packages/x/README.md')
  t.strictSame(messagesOf(broken), ['links to gone.md, which does not exist'])
  t.end()
})

t.test('links between pages lead to existing files', (t) => {
  const root = findRoot()
  expectNoFindings(
    t,
    findBrokenLinks(readRepository(root), (path) => existsSync(join(root, path))),
    'no broken link',
  )
  t.end()
})

t.test('canary: paths that do not exist', (t) => {
  const text = '`packages/a/src/b.ts`, `test/c/`, `src/d.ts`, `npm test`, packages/e'
  const pages = { 'docs/a.md': text, 'packages/a/README.md': text, 'docs/decisions/0001.md': text }
  const missing = findMissingPaths(new Repository(pages), (path) =>
    ['packages/a/src/b.ts', 'packages/a/src/d.ts'].includes(path),
  )
  t.strictSame(
    missing.map(({ path, message }) => `${path} ${message}`),
    [
      'docs/a.md names test/c/, which does not exist',
      'docs/a.md names src/d.ts, which does not exist',
      'packages/a/README.md names test/c/, which does not exist',
    ],
  )
  t.end()
})

t.test('paths that pages name exist', (t) => {
  const root = findRoot()
  expectNoFindings(
    t,
    findMissingPaths(readRepository(root), (path) => existsSync(join(root, path))),
    'no missing path',
  )
  t.end()
})

t.test('canary: packages that are not drawn, or on another floor', (t) => {
  const files = {
    'packages/bson/src/a.ts': '',
    'packages/wire/src/a.ts': '',
    'packages/query/src/a.ts': '',
    'docs/ARCHITECTURE.md': '```\n1  query   the query language\n 1  wire\n0  bson    documents\n```\n',
  }
  t.strictSame(messagesOf(findPackagesNotDrawn(new Repository(files))), ['does not draw wire on floor 2'])
  t.end()
})

t.test('ARCHITECTURE.md draws every package on its floor', (t) => {
  expectNoFindings(t, findPackagesNotDrawn(readRepository()), 'floors')
  t.end()
})
