import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { encode, encodeKeyString, findField, Long, type RawValue } from '@shardlab/bson'
import { DocumentStore } from '../src/records/document-store.js'
import { IdTable } from '../src/records/id-table.js'
import { RecordTable } from '../src/records/record-table.js'
import { check } from '@shardlab/bson/testing'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
// Reset: files share a process, and V8 rejects cached code compiled under other flags.
setFlagsFromString('--no-expose-gc')

const document = Buffer.alloc(5)
const versionOf = (bytes: Uint8Array): number => findField(bytes, 'version')!.asNumber()
const ids = (table: RecordTable, reverse = false): number[] => [...table.scan(reverse)].map(({ recordId }) => recordId)

t.test('a table and its clones are independent', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), gap: fc.constantFrom(1, 1, 1, 300) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('delete' as const), pick: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('clone' as const), pick: fc.nat() }) },
  )
  check(
    fc.property(fc.array(fc.tuple(fc.nat(), step), { maxLength: 120 }), (steps) => {
      const tables: { table: RecordTable; model: number[]; next: number }[] = [
        { table: new RecordTable(), model: [], next: 1 },
      ]
      for (const [which, action] of steps) {
        const target = tables[which % tables.length]!
        if (action.do === 'add') {
          target.next += action.gap
          target.table.set(target.next, document)
          target.model.push(target.next)
        } else if (action.do === 'delete' && target.model.length > 0) {
          // Mostly the oldest, so that pages at the front become empty.
          const [gone] = target.model.splice(action.pick % 3 === 0 ? action.pick % target.model.length : 0, 1)
          if (!target.table.delete(gone!)) return false
        } else if (action.do === 'clone' && tables.length < 5) {
          tables.push({ table: target.table.clone(), model: [...target.model], next: target.next })
        }
      }
      return tables.every(({ table, model }) => {
        const up = ids(table)
        return (
          table.count === model.length &&
          up.join() === model.join() &&
          ids(table, true).reverse().join() === model.join() &&
          model.every((id) => table.get(id)?.recordId === id)
        )
      })
    }),
    300,
  )
})

t.test('a table and its clones return the stored documents, in slabs or not', async () => {
  const step = fc.record({
    which: fc.nat(),
    do: fc.constantFrom('place', 'place', 'place', 'set', 'slab', 'hold', 'delete', 'clone', 'takeAll'),
    id: fc.integer({ min: 1, max: 140 }),
  })
  check(
    fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      const tables: { table: RecordTable; model: Map<number, number> }[] = [
        { table: new RecordTable(), model: new Map() },
      ]
      let slab = Buffer.alloc(4096)
      let [used, version] = [0, 0]
      for (const { which, do: action, id } of steps) {
        const { table, model } = tables[which % tables.length]!
        const next = encode({ version: ++version })
        if (action === 'slab') [slab, used] = [Buffer.alloc(4096), 0]
        const target = model.has(id) || id >= table.end ? id : table.end
        if (action === 'place') {
          slab.set(next, used)
          table.setInSlab(target, slab, used)
          used += next.length
          model.set(target, version)
        } else if (action === 'set') {
          table.set(target, next)
          model.set(target, version)
        } else if (action === 'hold') {
          const held = table.cachedDocument(id)
          if (held !== table.cachedDocument(id) || held !== table.documentOf(id)) return false
        } else if (action === 'delete') {
          if (table.delete(id) !== model.delete(id)) return false
        } else if (action === 'takeAll') {
          const taken = table.takeAll()
          if (table.count !== 0 || ids(table).length > 0) return false
          for (const record of taken.scan()) table.set(record.recordId, record.document)
        } else if (action === 'clone' && tables.length < 4) tables.push({ table: table.clone(), model: new Map(model) })
      }
      return tables.every(({ table, model }) => {
        const found = (reverse: boolean) =>
          [...table.scan(reverse)].map((record) => [record.recordId, versionOf(record.document)])
        const expected = [...model].sort(([a], [b]) => a - b).join()
        return (
          found(false).join() === expected &&
          found(true).reverse().join() === expected &&
          [...model].every(
            ([id, put]) => versionOf(table.documentOf(id)!) === put && versionOf(table.get(id)!.document) === put,
          )
        )
      })
    }),
    300,
  )
})

t.test('a slab is freed once none of its documents is stored, also after replacements', async (t) => {
  const table = new RecordTable()
  const slabs: WeakRef<Uint8Array>[] = []
  const inSlab = (...ids: number[]): void => {
    const slab = Buffer.concat(ids.map((id) => encode({ _id: id })))
    ids.forEach((id, i) => table.setInSlab(id, slab, (i * slab.length) / ids.length))
    slabs.push(new WeakRef(slab))
  }
  inSlab(1, 2)
  inSlab(1)
  inSlab(2)
  inSlab(1)
  table.cachedDocument(1)
  inSlab(1, 2)
  // A WeakRef keeps its target alive until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  t.same(
    slabs.map((slab) => slab.deref() !== undefined),
    [false, false, false, false, true],
  )
  t.same(
    [...table.scan()].map((record) => findField(record.document, '_id')!.asNumber()),
    [1, 2],
  )
})

t.test('the directory of a queue does not grow', async (t) => {
  const table = new RecordTable()
  for (let id = 1; id <= 200_000; id++) {
    table.set(id, document)
    if (id > 10) table.delete(id - 10)
  }
  t.same(ids(table), [199_991, 199_992, 199_993, 199_994, 199_995, 199_996, 199_997, 199_998, 199_999, 200_000])
  t.equal(table.get(5), undefined)
  t.equal(table.delete(5), false)
})

t.test('ids exceed 32 bits', async (t) => {
  const table = new RecordTable()
  const recordId = 2 ** 40 + 7
  table.set(recordId, document)
  t.equal(table.get(recordId)?.recordId, recordId)
  t.equal(table.get(7), undefined)
  t.same(ids(table), [recordId])
})

t.test('an _id table is a map of KeyStrings', async (t) => {
  const value = fc.oneof(
    fc.nat(20),
    fc.nat(20).map((number) => Long.fromNumber(number)),
    fc.constantFrom(0.5, 'a', 'b', null, true),
    fc.record({ a: fc.nat(3) }),
  )
  const idOf = (id: unknown): RawValue => findField(encode({ _id: id }), '_id')!
  check(
    fc.property(fc.array(fc.tuple(value, fc.boolean()), { maxLength: 200 }), (steps) => {
      const records = new RecordTable()
      const table = new IdTable(records, null)
      const model = new Map<string, number>()
      let next = 1
      for (const [_id, isDelete] of steps) {
        const id = idOf(_id)
        const key = encodeKeyString([id])
        const hash = table.hashOf(id)
        if (table.find(id, hash)?.recordId !== model.get(key)) return false
        const known = model.get(key)
        if (known === undefined && !isDelete) {
          records.set(next, encode({ _id }))
          table.add(next, hash)
          model.set(key, next++)
        } else if (known !== undefined && isDelete) {
          records.delete(known)
          table.delete(known, hash)
          model.delete(key)
        }
      }
      return true
    }),
    200,
  )
  const records = new RecordTable()
  const table = new IdTable(records, null)
  for (let i = 1; i <= 10_000; i++) {
    records.set(i, encode({ _id: i }))
    table.add(i, table.hashOf(idOf(i)))
    if (i > 100) table.delete(i - 100, table.hashOf(idOf(i - 100)))
    if (i > 100) records.delete(i - 100)
  }
  const found = Array.from({ length: 10_000 }, (_, i) => table.find(idOf(i + 1), table.hashOf(idOf(i + 1)))).filter(
    (each) => each !== undefined,
  )
  t.equal(found.length, 100)
})

t.test('an _id table shrinks, and distinguishes ids of equal hashes', async (t) => {
  const idOf = (id: unknown): RawValue => findField(encode({ _id: id }), '_id')!
  const records = new RecordTable()
  const table = new IdTable(records, null)
  const hashOf = (i: number): number => 2 + (table.hashOf(idOf(i)) % 3000)
  for (let i = 1; i <= 5000; i++) {
    records.set(i, encode({ _id: i }))
    table.add(i, hashOf(i))
  }
  t.ok(table.slots >= 8192)
  for (let i = 1; i <= 5000; i++) {
    if (i % 1000 === 0) continue
    table.delete(i, hashOf(i))
    records.delete(i)
  }
  t.ok(table.slots <= 1024, `${table.slots} slots`)
  t.same(
    Array.from({ length: 5000 }, (_, i) => table.find(idOf(i + 1), hashOf(i + 1))?.recordId).filter(
      (each) => each !== undefined,
    ),
    [1000, 2000, 3000, 4000, 5000],
  )
})

t.test(
  'memory of large documents and of slabs of small collections is mapped, so that the system gets it back',
  async (t) => {
    const bufferOf = (text: string, count = 1): ArrayBuffer => {
      const table = new RecordTable()
      const store = new DocumentStore(table)
      const document = encode({ text })
      for (let i = 1; i <= count; i++) store.put(i, document)
      const stored = [...table.scan(false)].map((record) => record.document)
      for (const each of stored) if (!Buffer.from(document).equals(each)) t.fail('a document has changed')
      return stored.at(-1)!.buffer as ArrayBuffer
    }
    t.equal(isMapped(bufferOf('x'.repeat(1024 * 1024))), true)
    t.equal(isMapped(bufferOf('x'.repeat(100_000))), false)
    t.equal(isMapped(bufferOf('x')), false)
    const slab = bufferOf('x'.repeat(1000), 1000)
    t.equal(slab.byteLength, 256 * 1024)
    t.equal(isMapped(slab), true)
    t.equal(isMapped(bufferOf('x'.repeat(10_000), 2000)), false, 'a large collection')
  },
)

/** Only memory of the C library can leave its buffer. Ends the use of the buffer. */
function isMapped(buffer: ArrayBuffer): boolean {
  structuredClone(buffer, { transfer: [buffer] })
  return buffer.byteLength > 0
}
