import { createRandom } from '@shardlab/actor'
import { Long, ObjectId, Timestamp, UUID, type Document } from '@shardlab/bson'
import { DueRanges, TaskRanges, type ScheduledDeletion, type TaskRange } from '@shardlab/shard'
import t from 'tap'
import { Shards } from './support/shards.js'

const seeds = process.env['SHARDLAB_SEED'] === undefined ? [1, 2, 3, 4] : [Number(process.env['SHARDLAB_SEED'])]
const steps = 400

t.test('TaskRanges finds the same overlaps as a scan of all ranges', (t) => {
  for (const seed of seeds) {
    const random = createRandom(seed)
    const uuids = [1, 2].map((n) => new Uint8Array(16).fill(n))
    const key = () => String.fromCharCode(97 + random.below(26), 97 + random.below(3))
    // Clients may write tasks: some overlap, and some are there twice.
    const any = (): TaskRange => {
      const [low, high] = [key(), key()]
      return { collectionUuid: uuids[random.below(2)]!, low: low < high ? low : high, high: low < high ? high : low }
    }
    const ranges = new TaskRanges()
    let known: TaskRange[] = []
    for (let step = 0; step < steps; step++) {
      if (known.length > 0 && random.below(step < steps / 2 ? 3 : 2) === 0) {
        const gone = known[random.below(known.length)]!
        known = known.toSpliced(known.indexOf(gone), 1)
        ranges.remove(gone)
      } else {
        const added = any()
        known.push(added)
        ranges.add(added)
      }
      const asked = any()
      const ofCollection = known.filter(({ collectionUuid }) => collectionUuid === asked.collectionUuid)
      const expected = ofCollection.some(({ low, high }) => low < asked.high && high > asked.low)
      const found = [ranges.anyBetween(asked.collectionUuid, asked.low, asked.high), ranges.anyOf(asked.collectionUuid)]
      if (found[0] !== expected || found[1] !== ofCollection.length > 0) {
        t.same(found, [expected, ofCollection.length > 0], `seed ${seed}, step ${step}`)
        break
      }
    }
    for (const range of known) ranges.remove(range)
    t.notOk(
      uuids.some((uuid) => ranges.anyOf(uuid)),
      `seed ${seed}: nothing is left`,
    )
    ranges.remove(any())
  }
  t.end()
})

t.test('the next range deletion is the earliest, then the first scheduled, and waits for no cursor', (t) => {
  for (const seed of seeds) {
    const random = createRandom(seed)
    const due = new DueRanges()
    const model = new Map<string, ScheduledDeletion>()
    for (let step = 0; step < steps; step++) {
      const id = String(random.below(40))
      if (random.below(3) === 0) {
        due.delete(id)
        model.delete(id)
      } else {
        const scheduled = { id, dueAtMs: random.below(20), cursors: random.below(4) === 0 ? [1n] : [], delayMs: 0 }
        due.put(scheduled)
        model.set(id, scheduled)
      }
      let next: ScheduledDeletion | undefined
      for (const each of model.values())
        if (each.cursors.length === 0 && (next === undefined || each.dueAtMs < next.dueAtMs)) next = each
      const kept = [...model.values()].filter(({ cursors }) => cursors.length > 0).map((each) => each.id)
      const found = [
        due.next()?.id,
        due.get(id)?.dueAtMs,
        [...due.waitingForCursors()].map((each) => each.id).toSorted(),
      ]
      const expected = [next?.id, model.get(id)?.dueAtMs, kept.toSorted()]
      if (JSON.stringify(found) !== JSON.stringify(expected)) {
        t.same(found, expected, `seed ${seed}, step ${step}`)
        break
      }
    }
    t.same(
      [...due.all()].map(({ id }) => id),
      [...model.keys()],
      `seed ${seed}: all, in the order in which they were scheduled`,
    )
  }
  t.end()
})

const taskOf = (collectionUuid: UUID, more: Document = {}): Document => ({
  ...{ _id: new UUID(), nss: 'db.c', collectionUuid, donorShardId: 'shard02', range: { min: { a: 0 }, max: { a: 9 } } },
  ...{
    whenToClean: 'now',
    timestamp: new Timestamp({ t: 1, i: 1 }),
    numOrphanDocs: Long.fromNumber(0),
    keyPattern: { a: 1 },
    ...more,
  },
})

const inConfig = async (shards: Shards, collection: string, document: Document) =>
  t.match(await shards.direct('shard01', { insert: collection, documents: [document], $db: 'config' }), { ok: 1, n: 1 })

t.test('documents of clients in config.rangeDeletions that are not tasks block nothing', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1, a: 1 }] })
  const listed = await shards.direct('shard01', { listCollections: 1 })
  const { uuid } = (listed as { cursor: { firstBatch: { info: { uuid: UUID } }[] } }).cursor.firstBatch[0]!.info
  shards.config.shard('db.c', { a: 1 }, [], ['shard01'], uuid.buffer)
  const cleaned = () => shards.direct('shard01', { cleanupOrphaned: 'db.c', maxTimeMS: 1, $db: 'admin' })
  const missing = ['nss', 'donorShardId', 'keyPattern', 'collectionUuid', 'range']
  const strange = [
    taskOf(uuid, { _id: 1 }),
    taskOf(uuid, { range: { min: 1 } }),
    ...missing.map((name) => taskOf(uuid, { [name]: 5 })),
  ]
  await inConfig(shards, 'rangeDeletions', strange[0]!)
  for (const document of strange.slice(1)) {
    t.match(await cleaned(), { ok: 1 })
    await inConfig(shards, 'rangeDeletions', document)
  }
  t.match(await cleaned(), { ok: 1 })
  for (const numOrphanDocs of [NaN, 2.5]) await inConfig(shards, 'rangeDeletions', taskOf(uuid, { numOrphanDocs }))
  t.match(await shards.direct('shard01', { collStats: 'c' }), { ok: 1, numOrphanDocs: 2 })
})

t.test('orphan counts follow the tasks, including changes by clients', async (t) => {
  for (const seed of seeds) {
    const random = createRandom(seed)
    const shards = new Shards()
    const names = ['c', 'd']
    for (const name of names) await shards.direct('shard01', { insert: name, documents: [{ _id: 1 }] })
    const listed = await shards.direct('shard01', { listCollections: 1 })
    const { firstBatch } = (listed as { cursor: { firstBatch: { name: string; info: { uuid: UUID } }[] } }).cursor
    const uuids = names.map((name) => firstBatch.find((each) => each.name === name)!.info.uuid)
    const any = () => ({
      collectionUuid: [...uuids, 5][random.below(3)]!,
      numOrphanDocs: [0, 3, 4, 'x'][random.below(4)]!,
    })
    const tasks = new Map<number, ReturnType<typeof any>>()
    for (let step = 0; step < 80; step++) {
      const [_id, task] = [random.below(6), any()]
      const rangeDeletions = { $db: 'config', ordered: true }
      if (!tasks.has(_id))
        await shards.direct('shard01', { insert: 'rangeDeletions', documents: [{ _id, ...task }], ...rangeDeletions })
      else if (random.below(3) > 0)
        await shards.direct('shard01', {
          update: 'rangeDeletions',
          updates: [{ q: { _id }, u: { $set: task } }],
          ...rangeDeletions,
        })
      else
        await shards.direct('shard01', {
          delete: 'rangeDeletions',
          deletes: [{ q: { _id }, limit: 1 }],
          ...rangeDeletions,
        })
      const left = await shards.direct('shard01', { find: 'rangeDeletions', filter: { _id }, $db: 'config' })
      if ((left as { cursor: { firstBatch: unknown[] } }).cursor.firstBatch.length > 0) tasks.set(_id, task)
      else tasks.delete(_id)
      for (const [i, name] of names.entries()) {
        let numOrphanDocs = 0
        for (const each of tasks.values())
          if (each.collectionUuid === uuids[i]) numOrphanDocs += Number(each.numOrphanDocs) || 0
        const stats = (await shards.direct('shard01', { collStats: name })) as { numOrphanDocs: number }
        if (stats.numOrphanDocs !== numOrphanDocs)
          t.equal(stats.numOrphanDocs, numOrphanDocs, `seed ${seed}, step ${step}, ${name}`)
      }
    }
    t.ok(tasks.size > 0)
  }
})

t.test('after a restart tasks of dropped collections end, and invalid records are ignored', async (t) => {
  const shards = new Shards()
  for (const more of [{ keyPattern: { a: 'x' } }, { whenToClean: 5 }, { numOrphanDocs: NaN }])
    await inConfig(shards, 'rangeDeletions', taskOf(new UUID(), more))
  const preMigrationChunkVersion = {
    e: new ObjectId(),
    t: new Timestamp({ t: 1, i: 1 }),
    v: new Timestamp({ t: 1, i: 0 }),
  }
  const record = {
    ...{ nss: 'db.c', collectionUuid: new UUID(), donorShardId: 'shard01', recipientShardId: 'shard02' },
    ...{ range: { min: { a: 0 }, max: { a: 9 } }, preMigrationChunkVersion },
  }
  for (const more of [
    { range: { min: { a: 0 } } },
    { preMigrationChunkVersion: {} },
    { preMigrationChunkVersion: { ...preMigrationChunkVersion, e: 1 } },
  ])
    await inConfig(shards, 'migrationCoordinators', { _id: new UUID(), ...record, ...more })
  shards.restart('shard01')
  await shards.wake('shard01', 'range-deleter')
  const left = (collection: string) => shards.ids('shard01', { find: collection, $db: 'config' }, 'direct')
  t.same((await left('rangeDeletions')).length, 1, 'a task without whenToClean is delayed')
  t.same((await left('migrationCoordinators')).length, 3, 'they stay unchanged')
})

t.test('a repeated decision of a migration is acknowledged when the disk has it', async (t) => {
  const shards = new Shards()
  const id = new UUID()
  await inConfig(shards, 'rangeDeletions', taskOf(new UUID(), { _id: id, pending: true }))
  const { disk } = shards.contexts.get('shard01')!
  disk.held = true
  let replies = 0
  const decide = async (): Promise<unknown> => {
    const request = { migrationId: id.buffer, decision: 'committed', clusterTime: [1, 1] } as const
    const { error } = await shards.send('shard01', 'shard.apply-migration-decision', request)
    replies++
    return error
  }
  const deciding = Promise.all([decide(), decide()])
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame([disk.waiting, replies], [1, 0])
  disk.release()
  t.strictSame(await deciding, [null, null])
})
