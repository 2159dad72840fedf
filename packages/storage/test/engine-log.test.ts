/** What becomes of an engine: by its log, by checkpoints and by many changes at once it is always the same. */
import fc from 'fast-check'
import t from 'tap'
import { CommandError, decode, Double, encode, Long, type Document } from '@shardlab/bson'
import {
  createMemoryEngine,
  decodeLogEntry,
  encodeInsertEntries,
  encodeLogEntry,
  plainEntryLength,
  writePlainEntry,
  type LogEntry,
  type StorageEngine,
} from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { fields, scalar } from './support/documents.js'
import {
  applyAll,
  commandOf,
  createIndexOf,
  createOf,
  deleteOf,
  insertOf,
  nothing,
  updateOf,
  uuid,
} from './support/log.js'
import { errorOf } from './support/query.js'
import { bytesOf, stateOf } from './support/state.js'

function engineWith(...entries: LogEntry[]): StorageEngine {
  const engine = createMemoryEngine()
  applyAll(engine, entries)
  return engine
}

t.test('log entries survive their encoding', async (t) => {
  const session = { lsid: encode({ id: 'x' }), txnNumber: 9_007_199_254_740_993n, stmtIds: [0] }
  const entries: LogEntry[] = [
    { ...insertOf('db.c', { _id: 1, a: 'x' }), session },
    { ...updateOf('db.c', { _id: 'y', a: 'x' }), session: { ...session, stmtIds: [1, 2] } },
    { ...deleteOf('db.c', 7), preImage: encode({ _id: 7 }) },
    createOf('db.c', { capped: true }),
    { ...nothing, ts: [4_000_000_000, 3_000_000_000] },
  ]
  for (const entry of entries) {
    const { preImage: _, ...durable } = entry
    t.same(plain(decodeLogEntry(encodeLogEntry(entry))), plain(durable))
  }
  t.same(Object.keys(decode(encodeLogEntry(entries[1]!))), [
    'lsid',
    'txnNumber',
    'op',
    'ns',
    'ui',
    'o',
    'o2',
    'stmtId',
    'ts',
    'wall',
  ])
  t.throws(() => decodeLogEntry(encode({ op: 'i' })), /not a log entry/)

  function plain(entry: LogEntry): unknown {
    return {
      ...entry,
      uuid: entry.uuid === null ? null : Buffer.from(entry.uuid).toString('hex'),
      object: decode(entry.object),
      id: entry.id === null ? null : [entry.id.type, Buffer.from(entry.id.slice()).toString('hex')],
      session: entry.session === null ? null : { ...entry.session, lsid: decode(entry.session.lsid) },
    }
  }
})

t.test('an entry outside of sessions is the same wherever it is written', async () => {
  const entry = fc.record({
    id: scalar,
    fields,
    op: fc.constantFrom('i', 'u', 'd', 'c'),
    ns: fc.constantFrom('db.c', 'dä.c', 'other.$cmd'),
  })
  check(
    fc.property(
      fc.array(entry, { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.nat({ max: 2 ** 32 - 1 }),
      (changes, wallMs, increment) => {
        for (const { id, fields: rest, op, ns } of changes) {
          const made =
            op === 'd'
              ? deleteOf(ns, id)
              : op === 'u'
                ? updateOf(ns, { _id: id, ...rest })
                : insertOf(ns, { _id: id, ...rest })
          const written: LogEntry = {
            ...made,
            op: op as LogEntry['op'],
            wallMs: wallMs * 2 ** 15,
            ts: [increment, 2 ** 32 - 1 - increment],
          }
          const expected = encodeLogEntry(written)
          const target = Buffer.alloc(expected.length + 7, 0xff)
          writePlainEntry(written, target, 3)
          if (plainEntryLength(written) !== expected.length || Buffer.compare(target.subarray(3, -4), expected) !== 0)
            return false
          if (target.readUInt32LE(expected.length + 3) !== 0xffff_ffff) return false
        }
        return true
      },
    ),
  )
})

t.test('the log, a checkpoint and a clone all lead to the same state', async () => {
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('insert' as const), id: fc.nat({ max: 20 }), fields }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('update' as const), id: fc.nat({ max: 20 }), fields }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('delete' as const), id: fc.nat({ max: 20 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('index' as const),
        path: fc.constantFrom('a', 'b', 'a.b'),
        unique: fc.boolean(),
        sparse: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('dropIndex' as const), path: fc.constantFrom('a', 'b') }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('modify' as const), value: scalar }) },
    { weight: 1, arbitrary: fc.constant({ do: 'recreate' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'snapshot' as const }) },
  )
  const entriesOf = (action: typeof step extends fc.Arbitrary<infer T> ? T : never): LogEntry[] => {
    switch (action.do) {
      case 'insert':
        return [insertOf('db.c', { _id: action.id, ...action.fields })]
      case 'update':
        return [updateOf('db.c', { _id: action.id, ...action.fields })]
      case 'delete':
        return [deleteOf('db.c', action.id)]
      case 'index':
        return [
          createIndexOf(
            'db.c',
            { [action.path]: 1 },
            { ...(action.unique ? { unique: true } : {}), ...(action.sparse ? { sparse: true } : {}) },
          ),
        ]
      case 'dropIndex':
        return [commandOf('db', { dropIndexes: 'c', index: `${action.path}_1` })]
      case 'modify':
        return [commandOf('db', { collMod: 'c', x: action.value })]
      case 'recreate':
        return [commandOf('db', { drop: 'c' }), createOf('db.c')]
      case 'snapshot':
        return []
    }
  }
  check(
    fc.property(fc.array(step, { maxLength: 80 }), fc.nat(), (actions, cut) => {
      const live = engineWith(createOf('db.c'))
      const log: Uint8Array[] = [encodeLogEntry(createOf('db.c'))]
      let checkpoint = live.checkpoint()
      let covered = 1
      let fork: StorageEngine = live.clone()
      actions.forEach((action, i) => {
        if (action.do === 'snapshot') live.collection('db.c')?.snapshot()
        for (const entry of entriesOf(action)) {
          try {
            live.apply(entry)
          } catch {
            // A change that was refused is in no log.
            continue
          }
          log.push(encodeLogEntry(entry))
        }
        if (i === cut % actions.length) {
          checkpoint = live.checkpoint()
          fork = live.clone()
          covered = log.length
        }
      })
      const expected = JSON.stringify(stateOf(live))
      const replayed = createMemoryEngine()
      for (const record of log) replayed.apply(decodeLogEntry(record))
      const restored = engineWith(createOf('db.dropped'))
      // Read only now: what has changed since is not in it.
      restored.restore(bytesOf(checkpoint))
      for (const record of log.slice(covered)) {
        restored.apply(decodeLogEntry(record))
        fork.apply(decodeLogEntry(record))
      }
      return (
        JSON.stringify(stateOf(replayed)) === expected &&
        JSON.stringify(stateOf(restored)) === expected &&
        JSON.stringify(stateOf(fork)) === expected
      )
    }),
    250,
  )
})

t.test('what is restored keeps nothing of the bytes that it came from', async (t) => {
  const first = engineWith(
    createOf('db.c', { capped: true, size: 4096 }),
    createIndexOf('db.c', { a: 1 }, { sparse: true }),
    insertOf('db.c', { _id: 1, a: 1 }),
  )
  const bytes = bytesOf(first.checkpoint())
  const second = createMemoryEngine()
  second.restore(bytes)
  bytes.fill(0xff)
  t.same(stateOf(second), stateOf(first))
  t.same(Buffer.from(second.collection('db.c')!.uuid), uuid)
})

t.test(
  'an index that is to become unique takes no new duplicates from many at once, and keeps those that it has',
  async (t) => {
    const prepared = (): StorageEngine =>
      engineWith(
        createOf('db.c'),
        createIndexOf('db.c', { a: 1 }),
        insertOf('db.c', { _id: 1, a: 'twice' }),
        insertOf('db.c', { _id: 2, a: 'twice' }),
        commandOf('db', { collMod: 'c', index: { name: 'a_1', prepareUnique: true } }),
      )
    const batch = (...values: unknown[]): Uint8Array[] => values.map((a, i) => encode({ _id: 10 + i, a }))
    for (const values of [
      ['new', 'twice'],
      ['new', 'new'],
    ]) {
      const engine = prepared()
      const before = stateOf(engine)
      t.match(
        errorOf(() => engine.insertAll('db.c', batch(...values))),
        {
          code: 11000,
          message: `E11000 duplicate key error collection: db.c index: a_1 dup key: { a: "${values[1]}" }`,
        },
      )
      t.same(stateOf(engine), before)
    }
    const engine = prepared()
    t.equal(engine.insertAll('db.c', batch('new', 'newer', [1, 1])).count, 3)
    t.equal(engine.collection('db.c')!.index('a_1')!.entries, 5)
    engine.apply(updateOf('db.c', { _id: 1, a: 'twice', b: 1 }))
    engine.apply(updateOf('db.c', { _id: 2, a: ['twice', 'other'] }))
    t.equal(errorOf(() => engine.apply(updateOf('db.c', { _id: 1, a: 'newer' }))).code, 11000)
    t.equal(errorOf(() => engine.apply(updateOf('db.c', { _id: 1, a: ['twice', 'newer'] }))).code, 11000)
    t.equal(engine.collection('db.c')!.index('a_1')!.entries, 6)
  },
)

t.test('of several duplicate keys of a document the lowest is named', async (t) => {
  const engine = engineWith(
    createOf('db.c'),
    createIndexOf('db.c', { a: 1 }, { unique: true }),
    ...[1, 2, 3].map((a) => insertOf('db.c', { _id: a, a })),
  )
  const named = / dup key: { a: 1 }$/
  t.match(errorOf(() => engine.apply(insertOf('db.c', { _id: 4, a: [3, 2, 1] }))).message, named)
  t.match(errorOf(() => engine.apply(updateOf('db.c', { _id: 3, a: [3, 2, 1] }))).message, named)
})

t.test(
  'an index that is to become unique looks for a key again whose number changes its type, as the server does',
  async (t) => {
    const engine = engineWith(
      createOf('db.c'),
      createIndexOf('db.c', { a: 1, b: 1 }),
      ...[1, 2].map((_id) => insertOf('db.c', { _id, a: [1, 2] })),
      insertOf('db.c', { _id: 3, a: 3 }),
      commandOf('db', { collMod: 'c', index: { name: 'a_1_b_1', prepareUnique: true } }),
    )
    const changed =
      (a: unknown, others: Document = {}) =>
      () =>
        engine.apply(updateOf('db.c', { _id: 1, a, ...others }))
    t.equal(errorOf(changed([new Double(1), 2])).code, 11000)
    t.equal(errorOf(changed([1, Long.fromNumber(2)])).code, 11000)
    changed([2, 1], { b: null, c: 1 })()
    engine.apply(updateOf('db.c', { _id: 3, a: new Double(3) }))
    t.equal(engine.collection('db.c')!.index('a_1_b_1')!.entries, 5)
  },
)

t.test(
  'an index that is to become unique does not ask for the keys of documents that its filter leaves out',
  async (t) => {
    const engine = engineWith(
      createOf('db.c'),
      createIndexOf('db.c', { a: 1, b: 1 }, { partialFilterExpression: { c: 1 }, prepareUnique: true }),
      insertOf('db.c', { _id: 1, a: [1], b: [1] }),
    )
    engine.apply(updateOf('db.c', { _id: 1, a: 1, b: 1, c: 1 }))
    engine.apply(updateOf('db.c', { _id: 1, a: [2], b: [2] }))
    t.equal(engine.collection('db.c')!.index('a_1_b_1')!.entries, 0)
  },
)

t.test('a checkpoint of another version is refused', async (t) => {
  t.throws(() => createMemoryEngine().restore(encode({ version: 99 })), /version 99/)
})

t.test('the entries of many inserts are those of each of them', async (t) => {
  const documents = [{ _id: 1 }, { _id: 'two', a: 'x'.repeat(300) }, { _id: 3, b: [1, 2] }].map((document) =>
    encode(document),
  )
  const session = { lsid: encode({ id: 'a session' }), txnNumber: 7n, stmtIds: [4, 9, 2 ** 20] }
  for (const each of [null, session]) {
    const common = { ns: 'db.c', uuid, wallMs: 1_700_000_000_123 }
    const together = encodeInsertEntries({ ...common, ts: [5, 9], session: each }, documents, 3)
    const alone = documents.map((object, i) =>
      encodeLogEntry({
        ...common,
        op: 'i',
        ts: [5, 9 + i],
        object,
        id: null,
        session: each === null ? null : { ...each, stmtIds: [each.stmtIds[i]!] },
      }),
    )
    t.same(Buffer.from(together), Buffer.concat(alone))
    t.same(
      Buffer.from(encodeInsertEntries({ ...common, ts: [5, 9], session: each }, documents, 2)),
      Buffer.concat(alone.slice(0, 2)),
    )
  }
})

function refusalOf(engine: StorageEngine, entry: LogEntry): string | null {
  try {
    engine.apply(entry)
    return null
  } catch (error) {
    if (error instanceof CommandError) return error.message
    throw error
  }
}

t.test('indexes that are read late hold what those hold that are read after each change', async () => {
  const change = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('insert' as const), fields }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('update' as const), pick: fc.nat(), fields }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('read' as const) }) },
  )
  check(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const indexes = [{ a: 1 }, { b: 'hashed' }, { 'a.b': -1, b: 1 }]
      const setUp = [createOf('db.c'), ...indexes.map((key) => createIndexOf('db.c', key))]
      const [late, often] = [engineWith(...setUp), engineWith(...setUp)]
      const ids: number[] = []
      let next = 0
      for (const step of changes) {
        if (step.do === 'read') stateOf(late)
        else {
          const at = step.do === 'insert' ? -1 : step.pick % (ids.length || 1)
          if (step.do !== 'insert' && ids.length === 0) continue
          const entry =
            step.do === 'insert'
              ? insertOf('db.c', { ...step.fields, _id: next++ })
              : step.do === 'update'
                ? updateOf('db.c', { ...step.fields, _id: ids[at] })
                : deleteOf('db.c', ids[at]!)
          const refusal = refusalOf(often, entry)
          if (refusalOf(late, entry) !== refusal) return false
          if (refusal === null && step.do === 'insert') ids.push(next - 1)
          else if (refusal === null && step.do === 'delete') ids.splice(at, 1)
          stateOf(often)
        }
      }
      return JSON.stringify(stateOf(late)) === JSON.stringify(stateOf(often))
    }),
    150,
  )
})

t.test('documents that are inserted all at once: as if one came after the other, or none of them', async () => {
  const fresh = fc.record({
    _id: fc.integer({ min: 0, max: 12 }),
    a: fc.option(scalar, { nil: undefined }),
    b: fc.integer({ min: 0, max: 40 }),
  })
  check(
    fc.property(fc.array(fc.array(fresh, { maxLength: 8 }), { maxLength: 4 }), (batches) => {
      const setUp = [
        createOf('db.c'),
        createIndexOf('db.c', { b: 1 }, { unique: true }),
        createIndexOf('db.c', { a: 1 }),
        createIndexOf('db.c', { a: -1, b: 1 }),
      ]
      let [whole, single] = [engineWith(...setUp), engineWith(...setUp)]
      for (const batch of batches) {
        const entries = batch.map((document) => insertOf('db.c', document))
        const attempt = single.clone()
        const refusal = entries.map((entry) => refusalOf(attempt, entry)).find((each) => each !== null) ?? null
        const before = documentsIn(whole)
        let refused = false
        try {
          whole.insertAll(
            'db.c',
            entries.map(({ object }) => object),
          )
        } catch {
          refused = true
        }
        if (refused !== (refusal !== null)) return false
        if (refused && documentsIn(whole) !== before) return false
        if (!refused) single = attempt
        if (documentsIn(whole) !== documentsIn(single)) return false
        whole = whole.clone()
      }
      return true
    }),
    150,
  )
})

/** What can be found, and in which order each index has it; ids of records do not count. */
function documentsIn(engine: StorageEngine): string {
  const collection = engine.collection('db.c')!
  const text = (recordId: number) => Buffer.from(collection.get(recordId)!.document).toString('hex')
  const inIndexes = collection.indexes().map((index) => {
    const cursor = index.seek({})
    const found: string[] = []
    for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) found.push(text(recordId))
    return found
  })
  return JSON.stringify([
    collection.count,
    collection.dataSizeBytes,
    [...collection.scan()].map(({ recordId }) => text(recordId)),
    inIndexes,
  ])
}
