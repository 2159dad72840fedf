import type { Document } from '@shardlab/bson'
import t from 'tap'
import { StreamReplay } from '../src/swarm/checkers/streams.js'

const ns = { db: 'app', coll: 'things' }

function replayOf(includesOrphans: boolean): StreamReplay {
  const replay = new StreamReplay(includesOrphans)
  replay.begin('app.things', [{ _id: 1, k: 5, m: 0 }])
  return replay
}

const event = (token: string, operationType: string, rest: Document = {}): Document => ({
  ...{ _id: { _data: token }, operationType, ns, documentKey: { k: 5, _id: 1 } },
  ...rest,
})
const update = (token: string, m: number): Document =>
  event(token, 'update', { updateDescription: { updatedFields: { m }, removedFields: [] } })

const sentences = (replay: StreamReplay, stored: readonly Document[]): string[] =>
  [...replay.contradictions, ...replay.differences('app.things', stored)].map(({ sentence }) => sentence)

t.test('an orphan and its original may change at the same time, before 5.3', async (t) => {
  for (const includesOrphans of [true, false]) {
    const replay = replayOf(includesOrphans)
    replay.apply(update('01', 1))
    replay.apply(update('01', 1))
    t.same(
      sentences(replay, [{ _id: 1, k: 5, m: 1 }]),
      includesOrphans ? [] : ['in the change stream, 1 update comes again, or out of order'],
    )
  }
})

t.test('an event that comes again after the stream has resumed is a violation in every version', async (t) => {
  for (const includesOrphans of [true, false]) {
    const replay = replayOf(includesOrphans)
    replay.apply(update('01', 1))
    replay.resumed()
    replay.apply(update('01', 1))
    t.same(sentences(replay, [{ _id: 1, k: 5, m: 1 }]), ['in the change stream, 1 update comes again, or out of order'])
  }
})

t.test('events out of order are a violation in every version', async (t) => {
  for (const includesOrphans of [true, false]) {
    const replay = replayOf(includesOrphans)
    replay.apply(update('02', 1))
    replay.apply(update('01', 1))
    t.equal(sentences(replay, [{ _id: 1, k: 5, m: 1 }]).length, 1)
  }
})

t.test('with events about orphans, a document need not have the state after the last event', async (t) => {
  const replay = replayOf(true)
  for (const [token, m] of [
    ['01', 1],
    ['02', 2],
    ['03', 1],
  ] as const)
    replay.apply(update(token, m))
  t.same(sentences(replay, [{ _id: 1, k: 5, m: 2 }]), [])
  t.same(sentences(replay, [{ _id: 1, k: 5, m: 3 }]), [
    'the change stream makes {"_id":1,"k":5,"m":1} of {"_id":1,"k":5,"m":3}',
  ])
})

t.test('with events about orphans, a document may be deleted twice, or only where it is an orphan', async (t) => {
  const replay = replayOf(true)
  replay.apply(event('01', 'delete'))
  replay.apply(event('02', 'delete'))
  t.same(sentences(replay, []), [])
  t.same(sentences(replay, [{ _id: 1, k: 5, m: 0 }]), [])
  t.same(sentences(replay, [{ _id: 2, k: 5, m: 0 }]), ['the change stream has no insert of 2'])
})

t.test('without them, a second delete and a missing one are violations', async (t) => {
  const replay = replayOf(false)
  replay.apply(event('01', 'delete'))
  replay.apply(event('02', 'delete'))
  t.same(sentences(replay, []), ['in the change stream, 1 has an event delete although it does not exist'])
  t.same(sentences(replayOf(false), []), ['the change stream has no delete of 1'])
})

t.test('a document that moves may be inserted before it is deleted, without its shard key', async (t) => {
  const clusterTime = 'a time'
  const insert = (documentKey: Document) =>
    event('01', 'insert', { clusterTime, documentKey, fullDocument: { _id: 1, k: 7, m: 1 } })
  const moved = replayOf(false)
  moved.apply(insert({ _id: 1 }))
  moved.apply(event('02', 'delete', { clusterTime }))
  t.same(sentences(moved, [{ _id: 1, k: 7, m: 1 }]), [])
  const inserted = replayOf(false)
  inserted.apply(insert({ _id: 1 }))
  t.match(sentences(inserted, [{ _id: 1, k: 7, m: 1 }]), ['in the change stream, 1 is inserted although it exists'])
  const again = replayOf(false)
  again.apply(insert({ k: 5, _id: 1 }))
  t.match(sentences(again, [{ _id: 1, k: 7, m: 1 }]), ['in the change stream, 1 is inserted although it exists'])
})
