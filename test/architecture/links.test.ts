import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findRoot, readRepository, Repository } from './model/repository.js'
import { findBrokenLinks } from './rules/links.js'
import { expectNoFindings, messagesOf } from './support.js'

t.test('canary: links that lead nowhere', (t) => {
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

t.test('links between pages lead somewhere', (t) => {
  const root = findRoot()
  expectNoFindings(
    t,
    findBrokenLinks(readRepository(root), (path) => existsSync(join(root, path))),
    'no broken link',
  )
  t.end()
})
