import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findUnknownCitations } from './rules/citations.js'
import { expectNoFindings } from './support.js'

const pages = {
  'docs/ARCHITECTURE.md':
    '# A\n\n3. Not a law.\n\n## Laws\n\n1. **One.** More\n   text.\n2. Two.\n\n## More\n\n4. Not a law.\n',
  'packages/node/README.md': '# node\n\n## Invariants\n\n1. One.\n2. Two.\n',
}

/**
 * `line message` of each finding. L and I stand for the words, which the rule would find in this
 * file.
 */
const citing = (text: string, path = 'packages/wire/src/a.ts'): string[] =>
  findUnknownCitations(
    new Repository({ ...pages, [path]: text.replaceAll('L', 'law').replaceAll('I', 'invariant') }),
  ).map(({ line, message }) => `${line} ${message}`)

t.test('canary: numbers of laws and invariants that do not exist', (t) => {
  const path = 'packages/node/src/a.ts'
  t.strictSame(citing('// (L 2)\n// as L 3 has it'), ['2 cites law 3, which is not in docs/ARCHITECTURE.md'])
  t.strictSame(citing('/**\n * Laws are many: L\n * 4.\n */'), ['2 cites law 4, which is not in docs/ARCHITECTURE.md'])
  t.strictSame(citing('Ls 1 and 5', 'docs/a.md'), ['1 cites law 5, which is not in docs/ARCHITECTURE.md'])
  t.strictSame(citing('// (README, I 3)', path), ['1 cites invariant 3, which is not in packages/node/README.md'])
  t.strictSame(citing('/**\n * (README,\n * I 3).\n */', path), [
    '2 cites invariant 3, which is not in packages/node/README.md',
  ])
  t.strictSame(citing('// (README of node, I 9)'), ['1 cites invariant 9, which is not in packages/node/README.md'])
  t.strictSame(citing('// (README, I 1)'), ['1 cites invariant 1, which is not in packages/wire/README.md'])
  t.end()
})

t.test('canary: numbers that exist are fine', (t) => {
  t.strictSame(citing('// Ls 1 and 2, (README of node, Is 1 and 2), flaw 9'), [])
  t.strictSame(citing('// (README, I 2)', 'packages/node/test/a.test.ts'), [])
  t.end()
})

t.test('laws and invariants that are cited exist', (t) => {
  expectNoFindings(t, findUnknownCitations(readRepository()), 'citations')
  t.end()
})
