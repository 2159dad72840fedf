import t from 'tap'
import { deviationSection, deviationsPath, findUnprovenDeviations, parseDeviations } from './deviations.js'
import { exportedRows, loadCommandModules } from './model/command-tables.js'
import { findRoot, readRepository, Repository } from './model/repository.js'
import { operatorFamilies, operatorSection } from './operators.js'
import { findUnlinkedDeviations } from './rules/deviation-links.js'
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
  t.match(deviationSection(page, [{ name: 'find', deviations: ['D1'] }]), [
    '## Deviations',
    '',
    /each with a test/,
    '',
    '| number | difference | commands and operators |',
    '| --- | --- | --- |',
    '| [D1](deviations.md#d1-one) | one | `find` |',
    '| [D2](deviations.md#d2-two) | two |  |',
  ])
  t.strictSame(deviationSection('', []), [])
  t.strictSame(messagesOf(findUnprovenDeviations(new Repository({}))), ['is missing'])
  t.end()
})

t.test('canary: a family of operators', (t) => {
  const rows = [
    { name: '$b', manualPage: 'query/b', status: 'partial' as const, missing: 'a|b', lacks: 'c', deviations: ['D1'] },
    { name: '$a', manualPage: 'query/a', status: 'complete' as const },
  ]
  t.strictSame(
    operatorSection({ title: 'Query', rows }, (number) => number),
    [
      '## Query',
      '',
      '2, of which 1 complete: `$a`.',
      '',
      '| partly supported | refuses | lacks | deviations | manual |',
      '| --- | --- | --- | --- | --- |',
      '| `$b` | a\\|b | c | D1 | reference/operator/query/b |',
      '',
    ],
  )
  t.end()
})

t.test('canary: entries and rows that do not name each other', (t) => {
  const page =
    '### D1 Words\nIt may `find` the sort of a $group, but find and split are words.\n### D2 A findAndModify\n'
  const commands = [
    { name: 'find', deviations: ['D1'] },
    { name: 'split' },
    { name: 'findAndModify', deviations: ['D3'] },
  ]
  t.strictSame(messagesOf(findUnlinkedDeviations(page, commands, [{ name: '$group' }])), [
    "the row 'findAndModify' links D3, which does not exist",
    'D1 names $group, whose row does not link it',
    'D2 names findAndModify, whose row does not link it',
  ])
  t.end()
})

t.test('the rows of commands and operators link the deviations that name them', async (t) => {
  const repository = readRepository()
  const commands = (await loadCommandModules(repository, findRoot())).flatMap(({ entry }) => [
    ...exportedRows(entry.exports),
  ])
  const operators = operatorFamilies().flatMap(({ rows }) => [...rows])
  const page = repository.files.get(deviationsPath)!.text
  expectNoFindings(t, findUnlinkedDeviations(page, commands, operators), 'rows and deviations agree')
})

t.test('every deviation has a number and a test', (t) => {
  expectNoFindings(t, findUnprovenDeviations(readRepository()), 'deviations are tested')
  t.end()
})
