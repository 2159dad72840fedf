import t from 'tap'
import { ownersOf } from '../src/index.js'

const chunk = (key: string, min: string, shard: string) => ({ key, min, shard })
const sizes = { name: 'bytes', title: 'bytes', values: [1, 1, 2] }
const widthsOf = (mins: readonly string[]) =>
  ownersOf({
    ...{ ns: 'a.b', shards: ['s0', 's1'], zones: [], sizes },
    rows: [mins.map((min, i) => chunk(String(i), min, `s${i % 2}`))],
  })!.widths

t.test('ranges have the shares of their sizes, and of their keys if these are numbers', async (t) => {
  t.match(widthsOf(['{"a":{"$minKey":1}}', '{"a":-1.5e3}', '{"a":1500}']), [
    { name: 'bytes', shares: [0.25, 0.25, 0.5] },
    { name: 'keys' },
  ])
  const [, keys] = widthsOf(['{"a\\"b":0,"c":"x"}', '{"a\\"b":10,"c":"y"}', '{"a\\"b":100,"c":"z"}'])
  t.ok(Math.abs(keys!.shares[1]! / keys!.shares[0]! - 9) < 0.01, 'of the first field')
  for (const text of ['"x"', '{"$oid":"65f000000000000000000000"}', 'true'])
    t.equal(widthsOf([`{"a":0}`, `{"a":1}`, `{"a":${text}}`]).length, 1, text)
})

t.test('neighbours with one owner are one range, and zones are places of ranges', async (t) => {
  const owners = ownersOf({
    ...{ ns: 'a.b', shards: ['s0', 's1'], sizes },
    rows: [
      [chunk('0', '{"a":0}', 's0')],
      [chunk('0', '{"a":0}', 's0'), chunk('1', '{"a":1}', 's0'), chunk('2', '{"a":2}', 's1')],
    ],
    zones: [{ zone: 'EU', fromKey: '1', toKey: '2' }],
  })!
  const [first, last] = owners.rows
  t.same(first, [[0, 3, 0]])
  t.same(last!.at(-1), [2, 3, 1])
  t.same(last!.length, 2)
  t.same(owners.zones, [{ zone: 'EU', from: 1, to: 2 }])
  t.equal(ownersOf({ ns: 'a.b', shards: [], rows: [[]], zones: [], sizes }), undefined, 'no chunk at all')
})
