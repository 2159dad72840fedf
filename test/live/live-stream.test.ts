/** The live stream of a cluster, read by the command `shardlab`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { MongoClient } from 'mongodb'
import t from 'tap'
import { createRandom } from '@shardlab/actor'
import { LiveState, type NumberedDelta } from '@shardlab/dashboard'
import { ShardedCluster } from 'shardlab'
import { findRoot } from '../architecture/model/repository.js'
import { TestCluster } from '../support/clusters.js'

const seed = Number(process.env['SHARDLAB_SEED'] ?? 1)

class StreamReader {
  readonly state = new LiveState()
  readonly numbers: number[] = []
  readonly #admin: TestCluster['admin']
  id = ''

  constructor(admin: TestCluster['admin']) {
    this.#admin = admin
  }

  async open(): Promise<this> {
    this.#take(await this.#admin({ shardlab: 'events' }))
    return this
  }

  /** Until there is nothing more. */
  async drain(): Promise<this> {
    while ((await this.next(0)) !== 0);
    return this
  }

  /** @returns how many deltas arrived */
  async next(waitMs: number): Promise<number> {
    const request = { shardlab: 'events', reader: this.id, after: this.numbers.at(-1), waitMs }
    return this.#take(await this.#admin(request))
  }

  async close(): Promise<void> {
    await this.#admin({ shardlab: 'events', reader: this.id, close: true })
  }

  /** Without the history, which a reader that joins later does not have. */
  get content(): unknown {
    const { cluster, members, shards, collections, migrations, faults, balancer, catalog, isReady } = this.state
    const chunks = [...collections.keys()].toSorted().map((ns) => [ns, this.state.chunksOf(ns)])
    const maps = [members, shards, collections, migrations].map((map) =>
      [...map].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
    return { cluster, maps, chunks, faults, balancer, error: catalog.error, isReady }
  }

  #take(reply: any): number {
    this.id = reply.reader
    for (const delta of reply.deltas as NumberedDelta[]) {
      this.numbers.push(delta.number)
      this.state.apply(delta)
    }
    return reply.deltas.length
  }
}

t.test('a reader of all deltas has the state of one that joins at the end', async (t) => {
  t.comment(`seed ${seed}`)
  const random = createRandom(seed)
  const cluster = await TestCluster.start('7.0', { findReplicaSetHostTimeoutMs: 500 })
  t.teardown(() => cluster.stop())
  const admin = (command: any) => cluster.admin(command)
  const reader = await new StreamReader(admin).open()
  t.equal(reader.state.shards.size, 3)
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]!
  // Otherwise a shard does not receive a range whose orphans it still has.
  const deleteOrphansAtOnce = async (uri: string): Promise<void> => {
    const shard = await MongoClient.connect(uri)
    await shard.db('admin').command({ setParameter: 1, orphanCleanupDelaySecs: 0 })
    await shard.close()
  }
  for (const { uri } of cluster.cluster.shards) await deleteOrphansAtOnce(uri)
  const [ns, other] = ['app.a', 'app.b']
  const some = () => pick([ns, other])
  const key = () => random.below(100)
  const restarted = async (member: string): Promise<void> => {
    await cluster.cluster.crash(member)
    await cluster.cluster.restart(member)
    const shard = cluster.cluster.shards.find(({ id }) => id === member)
    if (shard !== undefined) await deleteOrphansAtOnce(shard.uri)
  }
  const actions: (() => Promise<unknown>)[] = [
    () => admin({ shardCollection: some(), key: { k: 1 } }),
    () => admin({ split: some(), middle: { k: key() } }),
    () => admin({ split: some(), middle: { k: key() } }),
    () => admin({ split: some(), middle: { k: key() } }),
    () => admin({ moveRange: some(), min: { k: key() }, toShard: pick(cluster.shardIds) }),
    () => admin({ moveChunk: some(), find: { k: key() }, to: pick(cluster.shardIds) }),
    () => admin({ moveChunk: some(), find: { k: key() }, to: pick(cluster.shardIds) }),
    () => admin({ mergeAllChunksOnShard: some(), shard: pick(cluster.shardIds) }),
    () => admin({ addShardToZone: pick(cluster.shardIds), zone: pick(['EU', 'US']) }),
    () => admin({ updateZoneKeyRange: some(), min: { k: key() }, max: { k: 100 }, zone: pick(['EU', null]) }),
    () => admin({ refineCollectionShardKey: other, key: { k: 1, l: 1 } }),
    () => cluster.client.db('app').collection('b').drop(),
    () => cluster.client.db('app').createIndex('b', { k: 1, l: 1 }),
    () => admin({ shardlab: 'apply', fault: `slow disk of ${pick(cluster.shardIds)} by 1ms` }),
    () => restarted('shard03'),
    () => restarted('config'),
    async () => deleteOrphansAtOnce((await cluster.cluster.addShard()).uri),
    () => admin({ balancerStop: 1 }),
    () => admin({ balancerStart: 1 }),
  ]
  let succeeded = 0
  for (let i = 0; i < 60; i++)
    try {
      await (i === 0 ? actions[0]! : pick(actions))()
      succeeded++
    } catch {
      // Many are impossible at their time.
    }
  t.ok(succeeded > 20, `${succeeded} actions had an effect`)
  await cluster.cluster.faults.heal()
  await admin({ balancerStart: 1 })
  // Opening another one reads the cluster again, and the first reader receives what has changed.
  const second = await new StreamReader(admin).open()
  await reader.drain()
  t.same(reader.content, (await second.drain()).content, 'as a second reader')
  t.same(
    reader.numbers,
    reader.numbers.map((_, i) => i + 1),
    'numbers are consecutive',
  )
  await reader.close()
  await second.close()
  const fresh = await new StreamReader(admin).open()
  t.equal(fresh.state.events.length, 0, 'the recording has begun anew')
  t.same(reader.content, fresh.content, 'as a new recording')
  const chunks = await cluster.config.collection('chunks').countDocuments({})
  const counted = [...fresh.state.collections.keys()].map((each) => fresh.state.chunksOf(each).length)
  t.equal(
    counted.reduce((sum, each) => sum + each, 0),
    chunks,
    'every chunk of the catalog is there',
  )
  await fresh.close()
})

t.test('a config server that is down is reported, and the state is kept', async (t) => {
  const cluster = await TestCluster.start('7.0')
  t.teardown(() => cluster.stop())
  const reader = await new StreamReader((command) => cluster.admin(command)).open()
  await cluster.cluster.crash('config')
  const second = await new StreamReader((command) => cluster.admin(command)).open()
  await reader.drain()
  t.match(reader.state.catalog.error, /config server is down/)
  t.equal(reader.state.members.get('config')?.state, 'crashed')
  t.equal(reader.state.shards.size, 3)
  await cluster.cluster.restart('config')
  await (await new StreamReader((command) => cluster.admin(command)).open()).close()
  await reader.drain()
  t.equal(reader.state.catalog.error, null)
  await second.close()
  await reader.close()
})

t.test('a cluster with a reader that waits can be copied', async (t) => {
  const cluster = await TestCluster.start('7.0')
  t.teardown(() => cluster.stop())
  const { reader, deltas } = await cluster.admin({ shardlab: 'events' })
  const after = deltas.at(-1).number
  const waiting = cluster.admin({ shardlab: 'events', reader, after, waitMs: 10_000 })
  await cluster.admin({ ping: 1 })
  const beganMs = performance.now()
  await cluster.cluster.snapshot()
  t.ok(performance.now() - beganMs < 5000, 'it did not wait for the reader')
  await cluster.admin({ balancerStop: 1 })
  await waiting
  await t.rejects(cluster.admin({ shardlab: 'events', reader, after: 0 }), { message: /after is 0/ })
  await t.rejects(cluster.admin({ shardlab: 'events', after: 0 }), { message: /needs the reader/ })
})

/** The WebSocket of a dashboard, when the page has the state of the cluster. */
async function openPage(dashboard: string): Promise<Socket> {
  const sent = request(`${dashboard}live`, {
    headers: {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  }).end()
  const [, socket] = (await once(sent, 'upgrade')) as [unknown, Socket]
  let text = ''
  for await (const data of socket.iterator({ destroyOnReturn: false })) {
    text += String(data)
    if (text.includes('"type":"ready"')) return socket
  }
  throw new Error('the page was closed')
}

t.test('a cluster with an idle page can be copied and restored', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', dashboard: true })
  t.teardown(() => cluster.stop())
  const page = await openPage(cluster.dashboard!)
  t.teardown(() => page.destroy())
  const snapshot = await cluster.snapshot()
  await (await cluster.fork()).stop()
  await cluster.restore(snapshot)
  t.equal(page.readable, true, 'the page is still open')
})

t.test('a reader has the chunks of a snapshot after the cluster was restored', async (t) => {
  const cluster = await TestCluster.start('7.0')
  t.teardown(() => cluster.stop())
  const admin = (command: any) => cluster.admin(command)
  await admin({ shardCollection: 'app.a', key: { k: 1 } })
  await admin({ split: 'app.a', middle: { k: 10 } })
  const reader = await new StreamReader(admin).open()
  const snapshot = await cluster.cluster.snapshot()
  for (const k of [20, 30, 40]) await admin({ split: 'app.a', middle: { k } })
  await admin({ shardCollection: 'app.b', key: { k: 1 } })
  await (await new StreamReader(admin).open()).close()
  await reader.drain()
  t.equal(reader.state.chunksOf('app.a').length, 5)
  await cluster.cluster.restore(snapshot)
  await admin({ split: 'app.a', middle: { k: 5 } })
  await (await new StreamReader(admin).open()).close()
  await reader.drain()
  t.same(
    reader.state.chunksOf('app.a').map(({ min }) => min),
    ['{"k":{"$minKey":1}}', '{"k":5}', '{"k":10}'],
  )
  await reader.close()
  const fresh = await new StreamReader(admin).open()
  t.same(reader.content, fresh.content, 'as a new recording')
  await fresh.close()
})

t.test('the members of a replica set come with their states, and an election changes them', async (t) => {
  const cluster = await ShardedCluster.start({ topology: 'replica-set', runtime: 'inline' })
  t.teardown(() => cluster.stop())
  // The primary ends.
  const client = await MongoClient.connect(cluster.set!.members[1]!.uri)
  t.teardown(() => client.close())
  const reader = await new StreamReader((command) => client.db('admin').command(command)).open()
  const states = () => [...reader.state.members.values()].map(({ setState }) => setState)
  const first = cluster.set!.members[0]!.id
  t.same(states().toSorted(), ['PRIMARY', 'SECONDARY', 'SECONDARY'])
  t.equal(reader.state.members.get(first)!.setState, 'PRIMARY')
  await cluster.faults.apply(`crash ${first}`)
  const isElected = () => [...reader.state.members.values()].some((each) => each.setState === 'PRIMARY')
  while (reader.state.members.get(first)!.state === 'running' || !isElected()) await reader.next(1000)
  t.equal(reader.state.members.get(first)!.setState, null)
  t.match(reader.state.faults, [{ fault: `crash ${first}`, state: 'active', members: [first] }])
  t.ok(
    reader.state.events.some(({ type }) => type === 'election'),
    'the election is in the history',
  )
})

t.test('shardlab events prints a line for each delta', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline' })
  t.teardown(() => cluster.stop())
  const program = join(findRoot(), 'packages/shardlab/bin/shardlab.js')
  const child = spawn(process.execPath, [program, 'events', '--uri', cluster.uri, '--json'])
  const state = new LiveState()
  const lines = createInterface({ input: child.stdout })
  let isCrashed = false
  for await (const line of lines) {
    const delta = JSON.parse(line) as NumberedDelta
    state.apply(delta)
    if (delta.type === 'ready') {
      t.equal(state.members.get('shard02')?.state, 'running')
      await cluster.crash('shard02')
    }
    isCrashed = state.members.get('shard02')?.state === 'crashed'
    if (isCrashed) break
  }
  t.ok(isCrashed, 'the crash arrived')
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})
