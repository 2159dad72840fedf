import t from 'tap'
import { encode, nestsDeeperThan, type Document } from '@shardlab/bson'

function nested(levels: number, wrap: (value: unknown) => Document | unknown[] = (a) => ({ a })): Document {
  let value: unknown = 1
  for (let i = 1; i < levels; i++) value = wrap(value)
  return { a: value }
}

t.test('a document with one level more than the limit nests deeper', async (t) => {
  for (const levels of [1, 2, 10, 180, 200]) {
    for (const wrap of [
      (a: unknown) => ({ a }),
      (a: unknown) => ({ '': a }),
      (a: unknown) => [a],
      (a: unknown) => ({ b: 'x'.repeat(50), a }),
    ]) {
      t.equal(nestsDeeperThan(encode(nested(levels, wrap)), levels), false, `${levels}`)
      t.equal(nestsDeeperThan(encode(nested(levels + 1, wrap)), levels), true, `${levels + 1}`)
    }
  }
})

t.test('empty documents and arrays do not count as levels', async (t) => {
  t.equal(nestsDeeperThan(encode({ a: { b: {} } }), 2), false)
  t.equal(nestsDeeperThan(encode({ a: { b: [] } }), 2), false)
  t.equal(nestsDeeperThan(encode({ a: { b: [1] } }), 2), true)
})
