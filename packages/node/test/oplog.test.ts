import { DocumentWriter, findField } from '@shardlab/bson'
import { FakeDisk } from '@shardlab/actor/testing'
import { check } from '@shardlab/bson/testing'
import { encodeLogEntry, opTimeOf, type OpTime } from '@shardlab/storage'
import fc from 'fast-check'
import t from 'tap'
import { Oplog } from '../src/log/oplog.js'
import { OplogSlab } from '../src/log/oplog-slab.js'
import { OplogWindow } from '../src/log/oplog-window.js'
import { NodeUnderTest, session, long } from './support/harness.js'

function entry(increment: number, sizeBytes = 20, term = 1): Uint8Array {
  const object = new DocumentWriter(64).string('x', 'x'.repeat(sizeBytes)).finish()
  return encodeLogEntry({
    ...{ ts: [5, increment], term, op: 'n', ns: '', uuid: null, object, id: null, session: null },
    ...{ wallMs: 5000 + increment, difference: null },
  })
}

const at = (increment: number, term = 1): OpTime => ({ ts: [5, increment], term })
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function incrementsIn(window: OplogWindow): number[] {
  return [...window.entries()].map(([, bytes]) => incrementOf(bytes))
}

function incrementOf(bytes: Uint8Array): number {
  return opTimeOf(bytes).ts[1]
}

function filled(count: number, sizeBytesMax = 100_000): Oplog {
  const oplog = new Oplog(sizeBytesMax)
  for (let i = 1; i <= count; i++) oplog.append(entry(i))
  oplog.reveal()
  return oplog
}

t.test('readers see entries once they are revealed', async (t) => {
  const oplog = new Oplog(10_000)
  t.equal(oplog.first, null)
  t.equal(oplog.last, null)
  t.same(oplog.entriesAfter(at(1), 100), { outcome: 'too-old' })
  oplog.append(Buffer.concat([entry(1), entry(2)]))
  const from = oplog.end
  oplog.append(entry(3))
  t.equal(oplog.last, null)
  oplog.reveal(from)
  t.same(oplog.first, { optime: at(1), wallMs: 5001 })
  t.same(oplog.last, { optime: at(2), wallMs: 5002 })
  t.same(oplog.entriesAfter(at(2), 100), { outcome: 'entries', entries: new Uint8Array(0) })
  oplog.cutTo(from)
  oplog.append(entry(4))
  oplog.reveal()
  t.same(incrementsIn(oplog.window()), [1, 2, 4])
})

t.test('the entries after a position are whole, at least one, and end where the limit allows', async (t) => {
  const oplog = filled(100)
  const after = (increment: number, bytesMax: number, term = 1) => {
    const answer = oplog.entriesAfter(at(increment, term), bytesMax)
    return answer.outcome === 'entries' ? hex(answer.entries) : answer.outcome
  }
  const { length } = entry(1)
  t.equal(after(3, 1), hex(entry(4)))
  t.equal(after(3, length), hex(entry(4)))
  t.equal(after(3, 2 * length - 1), hex(entry(4)))
  t.equal(after(3, 2 * length), hex(Buffer.concat([entry(4), entry(5)])))
  t.equal(after(100, 1000), '')
  t.equal(after(101, 1000), 'diverged')
  t.equal(after(50, 1000, 2), 'diverged', 'another primary wrote this entry')
  t.equal(after(0, 1000), 'too-old')
  t.ok(oplog.contains(at(50)))
  t.notOk(oplog.contains(at(50, 2)))
  t.notOk(oplog.contains(at(0)))
  const walked = [...oplog.optimesBackwards()]
  t.same(walked[0], at(100))
  t.same(walked.at(-1), at(1))
  t.equal(walked.length, 100)
})

t.test('the oldest entries are dropped beyond the size, the newest is kept', async (t) => {
  const oplog = new Oplog(10_000)
  for (let i = 1; i <= 1000; i++) {
    oplog.append(entry(i))
    oplog.reveal()
  }
  const { sizeBytes, count } = oplog.window()
  t.ok(sizeBytes <= 10_000 && sizeBytes > 8000, `${sizeBytes}`)
  t.same(oplog.entriesAfter(at(1), 1000), { outcome: 'too-old' })
  t.equal(oplog.first!.optime.ts[1], 1000 - count + 1)
  oplog.append(entry(1001, 50_000))
  oplog.reveal()
  t.same(incrementsIn(oplog.window()), [1001])
  oplog.append(Buffer.concat(Array.from({ length: 500 }, (_, i) => entry(1002 + i))))
  oplog.reveal()
  t.ok(oplog.window().sizeBytes <= 10_000, 'a record larger than the oplog')
  t.equal(oplog.last!.optime.ts[1], 1501)
})

t.test('entries that a rollback may need are kept beyond the size', async (t) => {
  const oplog = new Oplog(10_000)
  const add = (from: number, to: number): void => {
    for (let i = from; i <= to; i++) {
      oplog.append(entry(i))
      oplog.reveal()
    }
  }
  oplog.keepFrom(at(0))
  add(1, 500)
  t.equal(oplog.window().count, 500)
  t.ok(oplog.isOversized)
  oplog.keepFrom(at(200))
  const [first] = incrementsIn(oplog.window())
  t.ok(first! <= 200 && first! > 180, `${first}`)
  oplog.resize(1000)
  t.equal(incrementsIn(oplog.window())[0], 200)
  t.ok(oplog.contains(at(200)))
  add(501, 600)
  t.equal(incrementsIn(oplog.window())[0], 200)
  t.equal(incrementsIn(oplog.windowOfAll())[0], 200)
  oplog.keepFrom(at(600))
  t.ok(oplog.contains(at(600)))
  t.ok(oplog.window().sizeBytes <= 1000)
  t.notOk(oplog.isOversized)
  oplog.keepFrom(null)
  add(601, 900)
  t.ok(oplog.window().sizeBytes <= 1000)
})

t.test('an oplog beyond its size seeks the oldest entry that it keeps once, not at each write', async (t) => {
  const oplog = new Oplog(1000)
  oplog.keepFrom(at(0))
  const seeks = t.capture(OplogWindow.prototype, 'seek', Reflect.get(OplogWindow.prototype, 'seek'))
  for (let i = 1; i <= 500; i++) {
    oplog.append(entry(i))
    oplog.reveal()
  }
  t.equal(seeks().length, 1)
  t.equal(oplog.window().count, 500)
})

t.test('of random changes, an oplog keeps what a rollback may need', async () => {
  const operation = fc.oneof(
    fc.record({ add: fc.integer({ min: 1, max: 20 }), sizeBytes: fc.nat({ max: 100 }) }),
    fc.record({ cut: fc.nat({ max: 20 }) }),
    fc.record({ keep: fc.nat({ max: 30 }) }),
    fc.record({ size: fc.integer({ min: 300, max: 3000 }) }),
  )
  check(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const oplog = new Oplog(1000)
      let increments: number[] = []
      let [last, keptFrom, term] = [0, 0, 1]
      oplog.keepFrom(at(0))
      for (const each of operations) {
        if ('add' in each)
          for (let i = 0; i < each.add; i++) {
            increments.push(++last)
            oplog.append(entry(last, each.sizeBytes, term))
            oplog.reveal()
          }
        else if ('cut' in each) {
          const to = [...oplog.optimesBackwards()][each.cut]
          if (to === undefined) continue
          oplog.truncateAfter(to)
          increments = increments.slice(0, increments.length - each.cut)
          last = to.ts[1]
          term++
        } else if ('keep' in each) oplog.keepFrom(at((keptFrom = Math.max(keptFrom, last - each.keep))))
        else oplog.resize(each.size)
        const kept = increments.filter((increment) => increment >= keptFrom)
        const found = incrementsIn(oplog.window())
        if (String(found.slice(found.length - kept.length)) !== String(kept)) return false
      }
      oplog.keepFrom(null)
      oplog.append(entry(last + 1))
      oplog.reveal()
      return oplog.window().sizeBytes <= 1000
    }),
  )
})

t.test('a set of one keeps no entries beyond the size, also while it recovers', async (t) => {
  const node = new NodeUnderTest({ checkpointAfterBytes: 2000, oplogSizeBytes: 1000 })
  for (let i = 0; i < 30; i++) await node.ok({ insert: 'c', documents: [{ _id: i }] })
  t.not(node.context.disk.read().checkpoint, null)
  const kept = t.capture(Oplog.prototype, 'keepFrom', Reflect.get(Oplog.prototype, 'keepFrom'))
  node.restarted()
  t.ok(kept().every(({ args: [optime] }) => optime === null))
})

t.test('a rollback removes the entries after a common one, not from snapshots and copies', async (t) => {
  const oplog = filled(10)
  const [window, copy] = [oplog.window(), oplog.clone()]
  t.throws(() => oplog.truncateAfter(at(11)), /no entry/)
  oplog.truncateAfter(at(4))
  oplog.append(entry(5, 20, 2))
  oplog.reveal()
  copy.append(entry(11))
  copy.reveal()
  t.same(incrementsIn(oplog.window()), [1, 2, 3, 4, 5])
  t.ok(oplog.contains(at(5, 2)))
  t.same(incrementsIn(window), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  t.same(incrementsIn(copy.window()), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})

t.test('an oplog finds the same entries as a list', async () => {
  const operation = fc.oneof(
    fc.record({ sizes: fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 20 }) }),
    fc.constant('cut' as const),
    fc.constant('replace' as const),
  )
  check(
    fc.property(fc.array(operation, { maxLength: 60 }), fc.integer({ min: 100, max: 20_000 }), (operations, max) => {
      const oplog = new Oplog(max)
      let list: Uint8Array[] = []
      let increment = 0
      for (const each of operations) {
        const added: Uint8Array[] = []
        if (typeof each !== 'string') for (const size of each.sizes) added.push(entry((increment += 2), size))
        else added.push(entry((increment += 2)))
        const end = oplog.end
        if (each === 'replace') {
          oplog.replace([Buffer.concat(added)])
          list = added
          continue
        }
        oplog.append(Buffer.concat(added))
        if (each === 'cut') oplog.cutTo(end)
        else {
          oplog.reveal()
          list.push(...added)
        }
      }
      const window = oplog.window()
      const kept = [...window.entries()]
      const expected = list.slice(list.length - kept.length)
      if (list.length > 0 && kept.length === 0) return false
      if (hex(Buffer.concat(kept.map(([, bytes]) => bytes))) !== hex(Buffer.concat(expected))) return false
      if (window.sizeBytes > max && expected.length > 1 && window.sizeBytes - expected[0]!.length > max) return false
      const backwards = [...window.entriesBackwards()].reverse()
      if (backwards.some(([position], i) => position !== kept[i]![0])) return false
      for (const [i, [position, bytes]] of kept.entries()) {
        const ts = incrementOf(bytes)
        if (window.seek([5, ts]) !== position || window.seek([5, ts - 1]) !== position) return false
        if (window.entryAt(position)?.length !== bytes.length || window.entryAt(position + 1) !== undefined)
          return false
        if (
          !window
            .bytesAt(position, 1)
            .subarray(0, bytes.length)
            .every((byte, b) => byte === bytes[b])
        )
          return false
        if (window.seek([5, ts + 1]) !== (kept[i + 1]?.[0] ?? window.end)) return false
      }
      return window.count === kept.length && hex(Buffer.concat(window.parts())) === hex(Buffer.concat(expected))
    }),
  )
})

t.test('another member fetches whole records, also from an oplog that a restart has read', async () => {
  const sizes = fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 8 })
  check(
    fc.property(fc.array(sizes, { minLength: 1, maxLength: 60 }), fc.boolean(), (records, hasRestarted) => {
      let oplog = new Oplog(40_000)
      oplog.keepFrom(at(0))
      const ends = [1]
      oplog.append(entry(1))
      for (const record of records) {
        let increment = ends.at(-1)!
        oplog.append(Buffer.concat(record.map((size) => entry(++increment, size))))
        oplog.reveal()
        ends.push(increment)
      }
      if (hasRestarted) {
        const parts = oplog.window().parts()
        oplog = new Oplog(40_000)
        oplog.replace(parts)
      }
      for (const end of ends.slice(0, -1)) {
        const answer = oplog.entriesAfter(at(end), 1_000_000)
        if (answer.outcome !== 'entries') return false
        const [last] = new OplogWindow(
          [new OplogSlab(answer.entries, 0, answer.entries.length, 0)],
          answer.entries.length,
        ).entriesBackwards()
        if (!ends.includes(incrementOf(last![1]))) return false
      }
      return true
    }),
  )
})

const bytesOf = ({ node }: NodeUnderTest): string => hex(Buffer.concat(node.oplog.window().parts()))

t.test('the oplog has what is on the disk, and survives a restart', async (t) => {
  for (const checkpointAfterBytes of [1_000_000, 300]) {
    const node = new NodeUnderTest({ checkpointAfterBytes, oplogSizeBytes: 1_000_000 })
    const messages = (of: NodeUnderTest) => [...of.node.oplog.window().entries()].length
    await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], lsid: session(1), txnNumber: long(1) })
    await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { a: 1 } } }] })
    const { node: inner } = node
    t.equal(inner.oplog.last!.optime.ts[1], inner.clock.time[1])
    t.equal(messages(node), 6, 'two no-ops, create, two inserts, update')
    const { uuid } = inner.collection('test.c')!
    inner.apply({ ns: 'test.c', uuid, session: null, ...deletion(2) })
    t.equal(messages(node), 6, 'an entry that is not on the disk is not shown')
    await inner.flush()
    t.equal(messages(node), 7)
    const before = bytesOf(node)
    const again = node.restarted()
    t.equal(bytesOf(again), before)
    await again.node.flush()
    t.ok(bytesOf(again).startsWith(before))
    t.equal(messages(again), 8, 'a restart begins a term')
    t.equal(again.node.oplog.last!.optime.term, 2)
    t.equal(again.node.set.coordinator.state.term, 2)
  }
})

t.test('entries of a failed append are not in the oplog, and are there once after the next write', async (t) => {
  const disk = new FakeDisk()
  const node = new NodeUnderTest({ disk })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const before = bytesOf(node)
  Object.assign(disk, {
    append: () => Promise.reject(new Error('broken')),
  })
  const { uuid } = node.node.collection('test.c')!
  node.node.apply({ ns: 'test.c', uuid, session: null, ...deletion(1) })
  await t.rejects(node.node.flush(), /broken/)
  t.equal(bytesOf(node), before)
  Reflect.deleteProperty(disk, 'append')
  await node.node.flush()
  t.ok(bytesOf(node).startsWith(before) && bytesOf(node).length > before.length)
  t.ok(bytesOf(node.restarted()).startsWith(bytesOf(node)))
})

t.test('inserts of one call have consecutive times', async (t) => {
  const node = new NodeUnderTest({ checkpointAfterBytes: 500, oplogSizeBytes: 1_000_000 })
  await node.ok({ create: 'c' })
  const documents = Array.from({ length: 50 }, (_, i) => new DocumentWriter(64).int32('_id', i).finish())
  const seen: number[] = []
  node.node.observe(({ ts }) => seen.push(ts[1]))
  node.node.insertAll(node.node.collection('test.c')!, documents)
  await node.node.flush()
  const last = node.node.clock.time[1]
  t.same(
    seen,
    documents.map((_, i) => last - 49 + i),
  )
  const optimes = [...node.node.oplog.optimesBackwards()].slice(0, 50).map(({ ts }) => ts[1])
  t.same(optimes.reverse(), seen, 'also when only a checkpoint was written')
})

t.test('of a write that is larger than the oplog, its newest entries are kept', async (t) => {
  const node = new NodeUnderTest({ checkpointAfterBytes: 500, oplogSizeBytes: 2000 })
  await node.ok({ create: 'c' })
  const documents = Array.from({ length: 100 }, (_, i) => new DocumentWriter(64).int32('_id', i).finish())
  node.node.insertAll(node.node.collection('test.c')!, documents)
  await node.node.flush()
  const { sizeBytes, count } = node.node.oplog.window()
  t.ok(sizeBytes <= 2000 && count > 10)
  t.equal(node.node.oplog.last!.optime.ts[1], node.node.clock.time[1])
  t.ok(bytesOf(node.restarted()).length > 0)
})

function deletion(id: number) {
  const object = new DocumentWriter(64).int32('_id', id).finish()
  return { op: 'd' as const, object, id: findField(object, '_id')! }
}
