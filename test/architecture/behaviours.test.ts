import { behaviourTable, emulatedVersions } from '@shardlab/sharding'
import t from 'tap'
import { behavioursPage, behaviourTopics, valuesText } from './behaviours.js'
import { readRepository, Repository } from './model/repository.js'

t.test('canary: a topic is a file, and its rows are in the order of the file', (t) => {
  const topics = behaviourTopics(
    new Repository({
      'packages/sharding/src/behaviours/topics/two-words.ts':
        "/** What\n * it is. */\nimport { row } from '../row.js'\nexport const all = {\n  b: row<boolean>(\n    'B.',\n  ),\n  a: row<number>('A.'),\n}\n",
      'packages/sharding/src/behaviours/table.ts': '  c: row<boolean>(',
    }),
  )
  t.strictSame(topics, [{ title: 'Two words', about: 'What it is.', names: ['b', 'a'] }])
  const table = {
    a: { about: 'A | <b>.', source: 's', values: [['2.6', null] as const] },
    b: { about: 'B.', source: 's', values: [['2.6', false] as const, ['4.4', true] as const] },
  }
  t.match(behavioursPage('notice', topics, table), '## Two words\n\nWhat it is.\n')
  t.match(
    behavioursPage('notice', topics, table),
    '| `b` | B. | 2.6 to 4.0: no; 4.4 to 8.0: yes | s |\n| `a` | A \\| \\<b>. | 2.6 to 8.0: none | s |',
  )
  t.end()
})

t.test('each value is listed with its first and last version', (t) => {
  t.equal(
    valuesText([
      ['2.6', 'x'],
      ['4.0', 2],
      ['8.0', { a: 1 }],
    ]),
    '2.6: `x`; 4.0 to 7.0: `2`; 8.0: `{"a":1}`',
  )
  t.end()
})

t.test('every row of the table is on the page, once', (t) => {
  const names = behaviourTopics(readRepository()).flatMap((topic) => topic.names)
  t.strictSame([...names].sort(), Object.keys(behaviourTable).sort())
  t.end()
})

t.test('every row starts at the first version and goes up', (t) => {
  for (const [name, { values, about, source }] of Object.entries(behaviourTable)) {
    const positions = values.map(([from]) => emulatedVersions.indexOf(from))
    t.ok(
      positions[0] === 0 && positions.every((position, i) => i === 0 || position > positions[i - 1]!),
      `${name} is in order`,
    )
    t.ok(
      values.every(([, value], i) => i === 0 || JSON.stringify(value) !== JSON.stringify(values[i - 1]![1])),
      `${name} repeats no value`,
    )
    t.ok(about.endsWith('.') && source !== '', `${name} has a sentence and a source`)
  }
  t.end()
})
