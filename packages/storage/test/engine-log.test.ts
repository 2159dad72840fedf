/** Replay: the log, checkpoints and clones give the same engine. */
import fc from 'fast-check'
import t from 'tap'
import { encode } from '@shardlab/bson'
import { createMemoryEngine, decodeLogEntry, encodeLogEntry, type LogEntry, type StorageEngine } from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { fields, scalar } from './support/documents.js'
import { commandOf, createIndexOf, createOf, deleteOf, engineWith, insertOf, updateOf, uuid } from './support/log.js'
import { bytesOf, stateOf } from './support/state.js'

t.test('the log, a checkpoint and a clone give the same state', async () => {
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
            // A failed change is not logged.
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
      for (const record of log) replayed.apply(decodeLogEntry(record, () => undefined))
      const restored = engineWith(createOf('db.dropped'))
      // Copied only now, to show that it lacks later changes.
      restored.restore(bytesOf(checkpoint))
      for (const record of log.slice(covered)) {
        restored.apply(decodeLogEntry(record, () => undefined))
        fork.apply(decodeLogEntry(record, () => undefined))
      }
      return (
        Buffer.concat([...checkpoint.pieces()]).equals(bytesOf(checkpoint)) &&
        JSON.stringify(stateOf(replayed)) === expected &&
        JSON.stringify(stateOf(restored)) === expected &&
        JSON.stringify(stateOf(fork)) === expected
      )
    }),
    250,
  )
})

t.test('the pieces of a large checkpoint are its bytes, and none is large', async (t) => {
  const engine = engineWith(createOf('db.c'))
  for (let i = 0; i < 300; i++) engine.apply(insertOf('db.c', { _id: i, text: 'x'.repeat(i * 40) }))
  engine.apply(insertOf('db.c', { _id: 'large', text: 'x'.repeat(1_000_000) }))
  const image = engine.checkpoint()
  const pieces = [...image.pieces()]
  t.ok(Buffer.concat(pieces).equals(bytesOf(image)))
  t.ok(pieces.every((piece) => piece.length < 1_001_000))
})

t.test('a restored engine shares no bytes with its checkpoint', async (t) => {
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

t.test('a checkpoint of another version throws', async (t) => {
  t.throws(() => createMemoryEngine().restore(encode({ version: 99 })), /version 99/)
})
