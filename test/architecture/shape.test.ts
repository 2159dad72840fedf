import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findIncompleteReadmes, findLongFiles, findLongWorkerEntries, findUnnumberedInvariants } from './rules/shape.js'
import { expectNoFindings, messagesOf } from './support.js'

const source = 'packages/bson/src/a.ts'
const lines = (count: number): string => 'a\n'.repeat(count)

t.test('canary: long files', (t) => {
  t.strictSame(messagesOf(findLongFiles(new Repository({ [source]: lines(401) }))), [
    'has 401 lines, more than 400: split it by mechanism',
  ])
  t.strictSame(findLongFiles(new Repository({ [source]: lines(400) })), [])
  t.strictSame(findLongFiles(new Repository({ [source]: lines(401) }), { [source]: 'a reason' }), [])
  t.strictSame(messagesOf(findLongFiles(new Repository({ [source]: lines(2) }), { [source]: 'a reason' })), [
    'is short enough: take it off the list longFiles',
  ])
  t.end()
})

t.test('no file is too long', (t) => {
  expectNoFindings(t, findLongFiles(readRepository()), 'no file over 400 lines')
  t.end()
})

t.test('canary: packages without the five headings', (t) => {
  const headings = ['Role', 'Where MongoDB does this', 'Entry points', 'Invariants', 'How to test'].map(
    (heading) => `## ${heading}\n`,
  )
  const readme = (text: string): string[] =>
    messagesOf(findIncompleteReadmes(new Repository({ [source]: '', 'packages/bson/README.md': text })))
  t.strictSame(readme(`# bson\n${headings.join('text\n')}## More\n`), [])
  t.match(readme(headings.slice(1).join('')), ['must have the headings Role, Where MongoDB does this'])
  t.match(readme(headings.reverse().join('')), ['in this order'])
  t.match(messagesOf(findIncompleteReadmes(new Repository({ [source]: '' }))), ['is missing; its headings are Role'])
  t.end()
})

t.test('every package has a README with the five headings', (t) => {
  expectNoFindings(t, findIncompleteReadmes(readRepository()), 'five headings everywhere')
  t.end()
})

t.test('canary: invariants without numbers', (t) => {
  const invariants = (list: string): string[] => {
    const readme = `# bson\n\n- not one\n\n## Invariants\n\n${list}\n## How to test\n\n- not one\n`
    return messagesOf(findUnnumberedInvariants(new Repository({ [source]: '', 'packages/bson/README.md': readme })))
  }
  t.strictSame(invariants('1. One\n   - more\n2. Two\n'), [])
  t.match(invariants('- One\n- Two\n'), ['must number its invariants from 1'])
  t.match(invariants('1. One\n3. Three\n'), ['must number its invariants from 1, without gaps'])
  t.end()
})

t.test('the invariants of every package are numbered', (t) => {
  expectNoFindings(t, findUnnumberedInvariants(readRepository()), 'numbered invariants')
  t.end()
})

t.test('canary: a worker entry that does more than bind a role', (t) => {
  const entry = (count: number): string[] =>
    messagesOf(
      findLongWorkerEntries(
        new Repository({ 'packages/cluster/src/workers/a.worker.ts': `/** Why. */\n\n${lines(count)}` }),
      ),
    )
  t.strictSame(entry(10), [])
  t.match(entry(11), ['has 11 lines of code, more than 10'])
  t.end()
})

t.test('worker entries only bind a role to the runtime', (t) => {
  expectNoFindings(t, findLongWorkerEntries(readRepository()), 'short worker entries')
  t.end()
})
