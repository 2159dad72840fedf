import t from 'tap'
import { deviationSection, findUnprovenDeviations, parseDeviations } from './deviations.js'
import { Repository, readRepository } from './model/repository.js'
import { operatorSection } from './operators.js'
import { expectNoFindings, messagesOf } from './support.js'

t.test('canary: deviations without a test, with a wrong one, given twice', (t) => {
  const page =
    '# x\n### D1 one\ntext\nTest: a.test.ts\n### D2 two\n### D3 three\nTest: a.test.ts\n### D1 again\nTest: `a.test.ts`\n'
  const repository = new Repository({ 'docs/reference/deviations.md': page, 'a.test.ts': "t.test('D1: …')\n// D33" })
  t.strictSame(messagesOf(findUnprovenDeviations(repository)), [
    'D2 names no test',
    'D3 is not named in a.test.ts',
    'D1 is given twice',
  ])
  t.match(parseDeviations(page)[0], { number: 'D1', title: 'one', line: 2, test: 'a.test.ts' })
  t.match(deviationSection(page), [
    '## Deviations',
    '',
    /each with a test/,
    '[deviations](deviations.md).',
    '',
    '- D1 one',
  ])
  t.strictSame(deviationSection(''), [])
  t.strictSame(messagesOf(findUnprovenDeviations(new Repository({}))), ['is missing'])
  t.end()
})

t.test('canary: a family of operators', (t) => {
  const rows = [
    { name: '$b', manualPage: 'query/b', status: 'partial' as const, missing: 'a|b', lacks: 'c' },
    { name: '$a', manualPage: 'query/a', status: 'complete' as const },
  ]
  t.strictSame(operatorSection({ title: 'Query', rows }), [
    '## Query',
    '',
    '2, of which 1 complete: `$a`.',
    '',
    '| partly supported | refuses | lacks | manual |',
    '| --- | --- | --- | --- |',
    '| `$b` | a\\|b | c | reference/operator/query/b |',
    '',
  ])
  t.end()
})

t.test('every deviation has a number and a test', (t) => {
  expectNoFindings(t, findUnprovenDeviations(readRepository()), 'deviations are tested')
  t.end()
})
