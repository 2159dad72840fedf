import fc from 'fast-check'
import t from 'tap'
import { int32Value, RawValue, stringValue } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { ValueArena } from '../../src/values/value-arena.js'
import { ValueList } from '../../src/values/value-store.js'

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

for (const Store of [ValueArena, ValueList])
  t.test(`${Store.name} keeps its values and the order of each list`, (t) => {
    check(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const store = new Store()
        const lists: { address: number; value: RawValue }[][] = []
        for (const { kind, target, value } of steps) {
          const list = lists[target % Math.max(1, lists.length)]
          if (kind === 'list' || list === undefined) {
            lists.push([{ address: store.add(value), value }])
          } else if (kind === 'link') {
            list.push({ address: store.addAfter(list.at(-1)!.address, value), value })
          } else if (list.length === 1) {
            list[0] = { address: store.replace(list[0]!.address, value), value }
          }
        }
        return lists.every((list) => {
          const kept = [...store.from(list[0]!.address)]
          return kept.length === list.length && kept.every((each, i) => same(each, list[i]!.value))
        })
      }),
      200,
    )
    t.end()
  })

t.test('a value is replaced in place where there is room, and rarely elsewhere', (t) => {
  const arena = new ValueArena()
  const first = arena.add(stringValue('abcd'))
  t.equal(arena.replace(first, int32Value(7)), first)
  t.equal(arena.at(first).asNumber(), 7)
  t.equal(arena.replace(first, stringValue('dcba')), first, 'the room of the longer one is kept')
  const addresses = new Set([first])
  let address = first
  for (let length = 0; length < 10_000; length++) {
    address = arena.replace(address, stringValue('x'.repeat(length)))
    addresses.add(address)
  }
  t.ok(addresses.size <= 15, `${addresses.size} addresses`)
  t.equal(arena.at(address).asString().length, 9999)
  t.end()
})
