/** Snapshots, forks and restores that are refused. */
import type { Document } from 'mongodb'
import { BusyWorldError, OptionError, ShardedCluster } from 'shardlab'
import t from 'tap'
import { admin, collectionOf, fill, forked, quiet, start } from './support/filled-cluster.js'

t.test('copies are refused during operations that a copy could not resume', async (t) => {
  const world = await start(t)
  await fill(world)
  const { cluster } = world
  const snapshot = await cluster.snapshot()
  const held = async (step: string, command: Document, says: RegExp): Promise<void> => {
    const { id } = await cluster.faults.apply(`hold at ${step}`)
    const running = admin(world, command)
    while (cluster.faults.list()[0]?.strikes === 0) await new Promise(setImmediate)
    const attempts: (() => Promise<unknown>)[] = [
      () => cluster.snapshot(),
      () => cluster.fork(),
      () => cluster.restore(snapshot),
    ]
    for (const attempt of attempts) await t.rejects(attempt, Object.assign(new BusyWorldError([]), { message: says }))
    t.equal(cluster.faults.list().length, 1, 'the faults are unchanged')
    await cluster.faults.heal(id)
    await running
  }
  await held(
    'shard.migration.committing',
    { moveChunk: 'app.things', find: { x: 0 }, to: 'shard02' },
    /^the cluster cannot be copied now: .*shard01 moves a range of app\.things to shard02/,
  )
  await held(
    'config.resharding.cloned',
    { reshardCollection: 'app.things', key: { _id: 1 }, numInitialChunks: 2 },
    /^the cluster cannot be copied now: .*app\.things is being resharded/,
  )
  await held(
    'shard.move-primary.cloned',
    { movePrimary: 'app', to: 'shard02' },
    /shard01 moves the database app to shard02/,
  )
  const fork = await forked(t, world)
  t.equal(await collectionOf(fork).countDocuments({}), 30)
})

t.test('options that contradict the snapshot are refused in one sentence', async (t) => {
  const world = await start(t, { shards: 1 })
  const snapshot = await world.cluster.snapshot()
  const refused = (attempt: () => Promise<unknown>, says: RegExp): Promise<unknown> =>
    t.rejects(attempt, Object.assign(new OptionError(''), { message: says }))
  await refused(
    () => ShardedCluster.start({ from: snapshot, emulate: '4.0' }),
    /emulate is "4\.0", but the snapshot is of a cluster with "7\.0"/,
  )
  await refused(() => ShardedCluster.start({ from: snapshot, runtime: 'threads' }), /runtime is "threads"/)
  await refused(() => ShardedCluster.start({ from: snapshot, shards: 2 }), /shards is 2/)
  await refused(() => ShardedCluster.start({ from: snapshot, chunkSize: '1MB' }), /chunkSize comes from the snapshot/)
  await refused(() => ShardedCluster.start({ from: {} as never }), /invalid snapshot/)
  await refused(() => world.cluster.fork({ host: '0.0.0.0' }), /host is 0\.0\.0\.0, where other machines can connect/)
  await refused(() => world.cluster.restore({} as never), /invalid snapshot/)
  const other = await ShardedCluster.start({ ...quiet, shards: 1, emulate: '4.4' })
  await refused(() => other.restore(snapshot), /this cluster has emulate "4\.4", the snapshot "7\.0"/)
  await other.stop()
  await refused(() => other.fork(), /has been stopped/)
  const threads = await ShardedCluster.start({ shards: 1 })
  await refused(
    () => threads.fork(),
    /only a cluster in the caller's thread can be copied and restored: start it with runtime: 'inline'/,
  )
  await threads.stop()
  const stopped = await ShardedCluster.start({ from: snapshot, runtime: 'inline', shards: 1 })
  await stopped.stop()
  t.same([...snapshot.members].sort(), ['balancer', 'config', 'mongos01', 'shard01'])
})
