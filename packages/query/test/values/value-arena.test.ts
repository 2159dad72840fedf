import fc from 'fast-check'
import t from 'tap'
import { BsonType, int32Value, RawValue, stringValue } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { ValueArena } from '../../src/values/value-arena.js'

/** Some larger than a block. */
const size = fc.oneof(fc.nat(60), fc.nat(5000), fc.constant(300_000))
const value = fc.tuple(fc.nat(255), size, fc.nat(255)).map(([type, length, byte]) => {
  const bytes = new Uint8Array(length + 7).fill(byte)
  return new RawValue(type, bytes, 3, length + 3)
})
type Step = { readonly kind: 'list' | 'link' | 'replace'; readonly target: number; readonly value: RawValue }
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('list', 'link', 'replace'),
  target: fc.nat(),
  value,
})

const same = (a: RawValue, b: RawValue): boolean => a.type === b.type && Buffer.compare(a.slice(), b.slice()) === 0

t.test('an arena keeps its values and the order of each list', (t) => {
  check(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const arena = new ValueArena()
      const lists: { address: number; value: RawValue }[][] = []
      for (const { kind, target, value } of steps) {
        const list = lists[target % Math.max(1, lists.length)]
        if (kind === 'list' || list === undefined) {
          lists.push([{ address: arena.add(value), value }])
        } else if (kind === 'link') {
          list.push({ address: arena.addAfter(list.at(-1)!.address, value), value })
        } else if (list.length === 1) {
          list[0] = { address: arena.replace(list[0]!.address, value), value }
        }
      }
      return lists.every((list) => {
        let address: number | null = list[0]!.address
        for (const expected of list) {
          if (address === null || !same(arena.at(address), expected.value)) return false
          address = arena.after(address)
        }
        return address === null
      })
    }),
    200,
  )
  t.end()
})

t.test('a value is replaced in place where it fits', (t) => {
  const arena = new ValueArena()
  const first = arena.add(stringValue('abcd'))
  t.equal(arena.replace(first, int32Value(7)), first)
  t.equal(arena.at(first).type, BsonType.int32)
  t.equal(arena.at(first).asNumber(), 7)
  const longer = arena.replace(first, stringValue('longer than before'))
  t.not(longer, first)
  t.equal(arena.at(longer).asString(), 'longer than before')
  t.end()
})
