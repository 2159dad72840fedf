/** The events of change streams that report the progress of migrations and of resharding. */
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import t from 'tap'
import { Stream, types } from './stream-client.js'
import { admin, ask, insert, start } from './two-shard-cluster.js'

const moveThings = (cluster: SimulatedCluster, x: number, to: string) =>
  admin(cluster, { moveChunk: 'app.things', find: { x }, to, _waitForDelete: true })

const fields = (event: Document) => Object.keys(event).join()

t.test('a shard that loses its last chunk reports it to streams with showSystemEvents, since 6.0', async (t) => {
  const options = { showExpandedEvents: true, showSystemEvents: true }
  for (const emulate of ['6.0', '8.0'] as const) {
    const cluster = await start(t, { emulate })
    for (const scope of ['things', 1]) {
      const stream = await Stream.open(cluster, 'mongos01', options, { aggregate: scope })
      const classic = await Stream.open(cluster, 'mongos01', { showExpandedEvents: true }, { aggregate: scope })
      const unexpanded = await Stream.open(cluster, 'mongos01', { showSystemEvents: true }, { aggregate: scope })
      t.match(await moveThings(cluster, 1, 'shard01'), { ok: 1 })
      const [event] = await stream.events(1)
      t.match(event, {
        operationType: 'migrateLastChunkFromShard',
        ns: { db: 'app', coll: 'things' },
        operationDescription: { shardId: 'shard02' },
      })
      t.equal(fields(event!), '_id,operationType,clusterTime,collectionUUID,wallTime,ns,operationDescription')
      t.match(await moveThings(cluster, 1, 'shard02'), { ok: 1 }, 'the first shard keeps a chunk')
      const x = scope === 1 ? 40 : 20
      await insert(cluster, x)
      const resumed = await Stream.open(
        cluster,
        'mongos01',
        { ...options, resumeAfter: event!['_id'] as Document },
        { aggregate: scope },
      )
      for (const each of [stream, classic, unexpanded, resumed]) t.same(types(await each.events(1)), ['insert'])
      await insert(cluster, x + 1)
      for (const each of [stream, classic, unexpanded]) t.same(types(await each.events(1)), ['insert'])
    }
  }
})

t.test('until 5.0 streams on a donor report the first chunk of a shard, and those of routers never', async (t) => {
  for (const [emulate, isShown] of [
    ['4.0', true],
    ['5.0', true],
    ['6.0', false],
    ['7.0', false],
  ] as const) {
    const cluster = await start(t, { emulate })
    const routed = await Stream.open(cluster, 'mongos01')
    await moveThings(cluster, 1, 'shard01')
    await admin(cluster, { split: 'app.things', middle: { x: -5 } })
    // A shard that has no chunk yet again.
    await moveThings(cluster, 1, 'shard02')
    const onDonor = await Stream.open(cluster, 'shard01')
    t.match(await moveThings(cluster, 1, 'shard01'), { ok: 1 })
    t.match(await moveThings(cluster, 1, 'shard02'), { ok: 1 })
    await insert(cluster, -3)
    const expected = isShown ? ['kNewShardDetected', 'insert'] : ['insert']
    const events = await onDonor.events(expected.length)
    t.same(types(events), expected, emulate)
    if (isShown) {
      t.equal(fields(events[0]!), '_id,operationType,clusterTime')
      const resumed = await Stream.open(cluster, 'shard01', { resumeAfter: events[0]!['_id'] as Document })
      t.same(types(await resumed.events(1)), ['insert'], 'the event has a token')
    }
    t.same(types(await routed.events(1)), ['insert'], 'the router hides it')
    const entries = await ask(
      cluster,
      { find: 'oplog.rs', filter: { op: 'n', ns: 'app.things' }, $db: 'local', sort: { $natural: -1 } },
      'shard01',
    )
    const [{ o, o2 }] = (entries['cursor'] as Document)['firstBatch'] as [Document]
    t.equal(o['msg'], 'Migrating chunk from shard shard01 to shard shard02 with no chunks for this collection')
    t.same(
      o2,
      emulate === '7.0'
        ? { migrateChunkToNewShard: 'app.things', fromShardId: 'shard01', toShardId: 'shard02' }
        : { type: 'migrateChunkToNewShard', from: 'shard01', to: 'shard02' },
    )
  }
})

t.test('streams on shards with showMigrationEvents report the phases of resharding', async (t) => {
  for (const emulate of ['5.0', '6.0', '7.0', '8.0'] as const) {
    const cluster = await start(t, { emulate })
    const isNew = emulate === '7.0' || emulate === '8.0'
    const expanded = emulate === '5.0' ? {} : { showExpandedEvents: true, showSystemEvents: true }
    const shown = { showMigrationEvents: true, ...expanded }
    const begins = await Stream.open(cluster, 'shard01', shown)
    const hidden = await Stream.open(cluster, 'shard01')
    const whole = await Stream.open(cluster, 'shard01', shown, { aggregate: 1 })
    const reshard = { reshardCollection: 'app.things', key: { _id: 1 }, numInitialChunks: 2 }
    t.match(await admin(cluster, reshard), { ok: 1 })
    const [begin] = await begins.events(1)
    const uuid = begin!['reshardingUUID']
    t.ok(uuid)
    t.equal(begin!['operationType'], 'reshardBegin')
    const named = 'collectionUUID,wallTime,ns,operationDescription'
    const more = emulate === '5.0' ? '' : isNew ? `,${named}` : ',collectionUUID,wallTime'
    t.equal(fields(begin!), `reshardingUUID,_id,operationType,clusterTime${more}`)
    if (isNew) t.same(begin!['operationDescription'], { reshardingUUID: uuid })
    t.match(await ask(cluster, { insert: 'last', documents: [{ _id: 1 }] }), { n: 1 })
    const seen: Document[] = []
    const isLast = (event?: Document) => event?.['operationType'] === 'insert' && event['ns'].coll === 'last'
    for (let i = 0; i < 100 && !isLast(seen.at(-1)); i++) seen.push(...(await whole.read()))
    t.ok(isLast(seen.at(-1)), 'the stream goes on')
    const phases = seen.filter(({ operationType }) => (operationType as string).startsWith('reshard'))
    if (emulate === '5.0') t.same(types(phases), ['reshardBegin'], 'the temporary collection is a system collection')
    else {
      t.same(types(phases).slice(0, 2), ['reshardBegin', 'reshardDoneCatchUp'])
      t.same(phases[1]!['reshardingUUID'], uuid)
      if (isNew) t.match(phases[1]!['ns'], { db: 'app', coll: /^system\.resharding\./ })
    }
    t.notOk(
      types(await hidden.events(1)).some((type) => type.startsWith('reshard')),
      'without the option',
    )
    t.match(
      await ask(cluster, {
        aggregate: 'things',
        pipeline: [{ $changeStream: { showMigrationEvents: true } }],
        cursor: {},
      }),
      { code: 31123 },
    )
  }
})
