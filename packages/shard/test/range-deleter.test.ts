import { createRandom } from '@shardlab/actor'
import { encode, findField, UUID, uuidValue, type Document } from '@shardlab/bson'
import { NodeUnderTest } from '@shardlab/node/testing'
import { RangeDeleter, rangeDeleterTimer, StoredRangeStore } from '@shardlab/shard'
import t from 'tap'

const seeds = process.env['SHARDLAB_SEED'] === undefined ? [1, 2, 3, 4] : [Number(process.env['SHARDLAB_SEED'])]
const delayMs = 900_000
const collectionUuid = new Uint8Array(16).fill(7)
const idOf = (n: number) => new Uint8Array(16).fill(n)
const rangeOf = (low: number, high: number) => ({ min: encode({ a: low }), max: encode({ a: high }) })

function start() {
  return onNode(new NodeUnderTest())
}

function onNode({ context, node }: NodeUnderTest, uuid: Uint8Array = collectionUuid) {
  const deleter = new RangeDeleter(node, new StoredRangeStore(node), { noteDeleted: () => {} })
  const add = (n: number, [low, high] = [n, n + 1], pending = false) => {
    const task = {
      id: idOf(n),
      ns: 'db.c',
      collectionUuid: uuid,
      donorShard: 'shard02',
      range: rangeOf(low, high),
      pending,
      processing: false,
    }
    deleter.add({ ...task, whenToClean: 'delayed', numOrphanDocs: 0, keyPattern: encode({ a: 1 }) })
  }
  return { context, node, deleter, add }
}

t.test('after the clock was set, a new range deletion rearms the timer for an earlier one', (t) => {
  for (const jumpMs of [600_000, -600_000]) {
    const { context, add } = start()
    const dueAtMs = context.nowMs + delayMs
    add(1)
    t.equal(context.timers.get(rangeDeleterTimer), dueAtMs)
    // The timer counts the remaining time by a clock of its own.
    context.nowMs += jumpMs
    context.timers.set(rangeDeleterTimer, dueAtMs + jumpMs)
    add(2)
    t.equal(context.timers.get(rangeDeleterTimer), Math.min(dueAtMs, context.nowMs + delayMs))
  }
  t.end()
})

t.test('the timer is rearmed only for a range deletion that is due earlier', (t) => {
  const { context, deleter, add } = start()
  add(1)
  context.timers.delete(rangeDeleterTimer)
  context.nowMs += 1000
  add(2)
  t.equal(context.timers.get(rangeDeleterTimer), undefined)
  add(3, [3, 4], true)
  deleter.release(idOf(3), 'now')
  t.equal(context.timers.get(rangeDeleterTimer), context.nowMs)
  t.end()
})

t.test('a copy starts with the timers of the original, and rearms them for its own range deletions', (t) => {
  const { context, deleter, add } = start()
  const [soonMs, laterMs] = [context.nowMs + 100_000, context.nowMs + 500_000]
  deleter.import([
    { id: '01', dueAtMs: soonMs, cursors: [5n], delayMs: 0 },
    { id: '02', dueAtMs: laterMs, cursors: [], delayMs: 0 },
  ])
  context.timers.set(rangeDeleterTimer, laterMs)
  add(1)
  t.equal(context.timers.get(rangeDeleterTimer), soonMs, 'the copy does not have the cursor')
  t.end()
})

t.test('until 6.0 a range deletion of an earlier primary waits for cursors that outlast the change', async (t) => {
  for (const [version, waits] of [
    ['6.0', true],
    ['7.0', false],
  ] as const) {
    const node = new NodeUnderTest({ version })
    await node.ok({ insert: 'c', documents: [1, 2, 3].map((_id) => ({ _id })) })
    const { uuid } = node.node.collection('test.c')!
    const { deleter, add } = onNode(node, uuid)
    add(1)
    const { cursor } = await node.ok({ find: 'c', batchSize: 1 })
    const [open] = [...node.node.cursors]
    Object.assign(open!.source.reads!, { leavesOutOrphans: true })
    await node.stepDown()
    await node.stepUp()
    const { deleter: next } = onNode(node, uuid)
    next.start()
    t.not(next, deleter)
    const cursorsOf = () => next.export().map(({ cursors }) => cursors.length)
    t.same(cursorsOf(), [waits ? 1 : 0], version)
    await node.ok({ killCursors: 'c', cursors: [cursor.id] })
    t.same(cursorsOf(), [0])
  }
})

t.test('the index of ranges agrees with a scan of all tasks, including those that clients have written', (t) => {
  const ns = 'config.rangeDeletions'
  const written = (n: number, low: number, high: number): Document => ({
    ...{
      _id: new UUID(Buffer.from(idOf(n))),
      nss: 'db.c',
      collectionUuid: new UUID(Buffer.from(collectionUuid)),
      donorShardId: 'shard02',
    },
    ...{ range: { min: { a: low }, max: { a: high } }, keyPattern: { a: 1 } },
  })
  for (const seed of seeds) {
    const random = createRandom(seed)
    const { node, deleter, add } = start()
    /** Null: not a task. */
    const model = new Map<number, readonly [low: number, high: number] | null>()
    for (let step = 0; step < 400; step++) {
      const [n, low] = [random.below(8), random.below(30)]
      const high = low + 1 + random.below(5)
      const collection = node.collection(ns)
      const apply = (op: 'i' | 'u' | 'd', object: Uint8Array) =>
        node.apply({ op, ns, uuid: collection!.uuid, object, id: findField(object, '_id')!, session: null })
      const client = (document: Document) => {
        if (collection !== undefined)
          apply(collection.findById(uuidValue(idOf(n))) === undefined ? 'i' : 'u', encode(document))
        return collection !== undefined
      }
      switch (random.below(7)) {
        case 0:
          add(n, [low, high], true)
          model.set(n, [low, high])
          break
        case 1:
          deleter.release(idOf(n), 'delayed', low)
          break
        case 2:
          deleter.countOrphans(idOf(n), low)
          break
        case 3:
          deleter.cancel(idOf(n))
          model.delete(n)
          break
        case 4:
          if (client(written(n, low, high))) model.set(n, [low, high])
          break
        case 5:
          if (client({ ...written(n, low, high), range: 5 })) model.set(n, null)
          break
        case 6:
          if (model.has(n)) apply('d', encode({ _id: new UUID(Buffer.from(idOf(n))) }))
          model.delete(n)
          break
      }
      const [from, to] = [random.below(30), 31]
      const isClean = ![...model.values()].some((range) => range !== null && range[0] < to && range[1] > from)
      if (deleter.isClean(collectionUuid, rangeOf(from, to)) !== isClean) {
        t.fail(`seed ${seed}, step ${step}: ${isClean ? 'nothing is' : 'something is'} left from ${from} on`)
        break
      }
    }
    t.pass(`seed ${seed}`)
  }
  t.end()
})
