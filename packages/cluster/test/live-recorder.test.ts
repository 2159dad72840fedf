import type { ClusterEvent } from '@shardlab/actor'
import type { ClusterFacts } from '@shardlab/dashboard'
import type { Runtime } from '@shardlab/runtime'
import t from 'tap'
import type { Faults } from '../src/faults/faults.js'
import { LiveRecorder } from '../src/live/live-recorder.js'
import { WatchedEvents } from '../src/watched-events.js'

const facts: ClusterFacts = { id: 'a', uri: 'mongodb://h/', topology: 'sharded', emulate: '7.0', clock: 'real' }
const split: ClusterEvent = {
  ...{ type: 'split', atMs: 1, ns: 'a.b', shard: 'shard01', min: '{}', max: '{}', points: [] },
} as never

/** A cluster with an empty catalog. */
class FakeCluster {
  readonly listeners = new Set<(event: ClusterEvent) => void>()
  reads = 0
  watched: readonly string[] = []
  /** Called with each read of the catalog. */
  whileReading: () => void = () => {}
  readonly recorder: LiveRecorder

  constructor() {
    const runtime = {
      members: () => [],
      resolve: (set: string) => [set],
      member: () => ({ state: 'running' }),
      now: () => 1,
      watch: (types: readonly string[]) => void (this.watched = types),
      onEvent: (listener: (event: ClusterEvent) => void) => {
        this.listeners.add(listener)
        return () => this.listeners.delete(listener)
      },
      request: async (_to: string, kind: string) => {
        if (kind === 'config.get-shards') {
          this.reads++
          this.whileReading()
        }
        return { shards: [], collections: [], setting: null }
      },
    }
    const faults = { list: () => [] }
    this.recorder = new LiveRecorder({
      ...{ runtime: runtime as unknown as Runtime, faults: faults as unknown as Faults },
      ...{ watched: new WatchedEvents(runtime as never), facts: () => facts },
    })
    t.teardown(() => this.recorder.closeAll())
  }

  emit(event: ClusterEvent): void {
    for (const listener of this.listeners) listener(event)
  }
}

t.test('a reader is opened although every read of the catalog meets a change', async (t) => {
  const cluster = new FakeCluster()
  cluster.whileReading = () => {
    for (let i = 0; i < 10; i++) cluster.emit(split)
  }
  const first = await cluster.recorder.open()
  const second = await cluster.recorder.open()
  t.not(first, second)
  t.equal(cluster.reads, 2, 'each looks once; further looks come later')
})

t.test('a reader that is opened during a look waits for the next one, and several share it', async (t) => {
  const cluster = new FakeCluster()
  const others: Promise<string>[] = []
  cluster.whileReading = () => {
    if (others.length === 0) others.push(cluster.recorder.open(), cluster.recorder.open())
  }
  await cluster.recorder.open()
  await Promise.all(others)
  t.equal(cluster.reads, 2)
})

t.test('when the cluster stops, the recording ends, and no reader is opened', async (t) => {
  const cluster = new FakeCluster()
  const reader = await cluster.recorder.open()
  const { deltas } = await cluster.recorder.next(reader, 0, 0)
  const waiting = cluster.recorder.next(reader, deltas.at(-1)!.number, 60_000)
  const opening = cluster.recorder.open()
  cluster.recorder.closeAll()
  t.same((await waiting).deltas, [])
  await t.rejects(opening, { message: /has been stopped/ })
  t.equal(cluster.listeners.size, 0)
})

t.test('operations are watched while there is a reader', async (t) => {
  const cluster = new FakeCluster()
  const reader = await cluster.recorder.open()
  t.ok(cluster.watched.includes('operations'))
  const sample = { opId: 7, ns: 'a.unknown', kind: 'targeted', bounds: [['{"a":1}', '{"a":1}']] }
  const operations = {
    type: 'operations',
    atMs: 1,
    mongos: 'mongos01',
    fromMs: 1,
    shapes: [],
    shards: [],
    samples: [sample],
  }
  cluster.emit(operations as never)
  const { deltas } = await cluster.recorder.next(reader, 0, 0)
  t.match(deltas.at(-1), { type: 'operations', operations })
  cluster.recorder.close(reader)
  t.notOk(cluster.watched.includes('operations'))
})
