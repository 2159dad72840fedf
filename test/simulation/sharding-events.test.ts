/**
 * The events of shardCollection, refineCollectionShardKey and reshardCollection appear exactly
 * once, also when their coordinator crashes, or fails, at any step.
 */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import t, { type Test } from 'tap'

const shard = { shardCollection: 'app.c', key: { a: 1 } }
const refine = { refineCollectionShardKey: 'app.c', key: { a: 1, b: 1 } }
const reshard = { reshardCollection: 'app.c', key: { b: 1 }, numInitialChunks: 2 }

const operations = [
  {
    before: [],
    command: shard,
    steps: [
      'shard.create-collection.validated',
      'shard.create-collection.participants-ready',
      'shard.create-collection.committed',
    ],
    described: { shardKey: { a: 1 }, unique: false, numInitialChunks: 0 },
  },
  {
    before: [shard],
    command: refine,
    steps: ['shard.refine-shard-key.validated', 'shard.refine-shard-key.committed'],
    described: { shardKey: { a: 1, b: 1 }, oldShardKey: { a: 1 } },
  },
  {
    before: [shard],
    command: reshard,
    steps: ['shard.resharding.requested', 'config.resharding.cloned', 'config.resharding.committed'],
    described: { shardKey: { b: 1 }, oldShardKey: { a: 1 }, unique: false, numInitialChunks: 2 },
  },
]

interface World {
  readonly cluster: SimulatedCluster
  readonly run: (command: Document) => Promise<Document>
}

async function start(t: Test): Promise<World> {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 2, emulate: '7.0' })
  t.teardown(() => cluster.stop())
  const run = async (command: Document) =>
    decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'admin' }), { to: 'mongos01' }), {
      promoteLongs: true,
    })
  await run({ enableSharding: 'app', primaryShard: 'shard01' })
  for (const command of [
    { insert: 'c', documents: [{ _id: 1, a: 1, b: 1 }] },
    { createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'a_b' }] },
  ])
    t.match(await run({ ...command, $db: 'app' }), { ok: 1 })
  return { cluster, run }
}

async function eventsAfter({ run }: World, resumeAfter: Document): Promise<Document[]> {
  const $changeStream = { resumeAfter, showExpandedEvents: true }
  const opened = await run({ aggregate: 'c', pipeline: [{ $changeStream }], cursor: {}, $db: 'app' })
  const more = { getMore: opened['cursor'].id as unknown, collection: 'c', maxTimeMS: 1000, $db: 'app' }
  const events: Document[] = []
  while (events.at(-1)?.['operationType'] !== 'delete')
    events.push(...((await run(more))['cursor'].nextBatch as Document[]))
  return events
}

for (const { before, command, steps, described } of operations) {
  const [name] = Object.keys(command) as [string]
  for (const step of steps)
    for (const action of ['crash', 'fail'] as const) {
      // A config server retries its steps.
      if (action === 'fail' && step.startsWith('config')) continue
      t.test(`${name} has one event: ${action} at ${step}`, async (t) => {
        const world = await start(t)
        const { cluster, run } = world
        for (const each of before) t.match(await run(each), { ok: 1 })
        const opened = await run({ aggregate: 'c', pipeline: [{ $changeStream: {} }], cursor: {}, $db: 'app' })
        const isOnConfig = step.startsWith('config')
        const fault = await cluster.steps.arm(step, isOnConfig ? 'hold' : action, { times: 1 })
        const running = run(command)
        await cluster.during(cluster.steps.struck(fault))
        if (isOnConfig) {
          await cluster.crash('shard01')
          await cluster.steps.heal(fault)
        }
        if (action === 'crash') {
          await cluster.advance(1000)
          await cluster.restart('shard01')
        }
        await running
        await cluster.advance(600_000)
        // A client repeats it until it succeeds, which changes nothing if it is done.
        t.match(await run(command), { ok: 1 })
        await run({ delete: 'c', deletes: [{ q: { a: 1, b: 1 }, limit: 1 }], $db: 'app' })
        const events = await eventsAfter(world, opened['cursor'].postBatchResumeToken as Document)
        const found = events.filter(({ operationType }) => operationType === name)
        t.match(found, [{ operationDescription: described }])
        t.equal(found.length, 1)
      })
    }
}
