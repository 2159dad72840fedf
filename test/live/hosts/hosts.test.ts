/**
 * Members in processes that NATS connects: one host is killed, another is cut off from NATS, and a
 * program in another language reads the packets. `SHARDLAB_LONG=1` uses 12 shards.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { withoutNats } from '@shardlab/nats/testing'
import { MongoClient, type Collection } from 'mongodb'
import { ShardedCluster, type ElectionEvent } from 'shardlab'
import t from 'tap'
import { shardlab } from '../../support/up.js'
import { HostProcesses } from './host-processes.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const shards = isLong ? 12 : 1
const machines = ['H1', 'H2', 'H3']
const python = '/usr/bin/python3'
const reader = fileURLToPath(new URL('../../../clients/scripts/packets.py', import.meta.url))
const withoutMsgpack =
  spawnSync(python, ['-c', 'import msgpack']).status === 0 ? false : 'needs python3-msgpack (Debian)'

interface Doc {
  _id: number
}

/** Clients that insert with majority until they are stopped. */
class Writers {
  readonly acknowledged: number[] = []
  readonly errors: unknown[] = []
  readonly #running: Promise<unknown>
  #isStopped = false
  #onWritten: (() => void) | null = null

  constructor(collection: Collection<Doc>, count: number) {
    this.#running = Promise.all(Array.from({ length: count }, (_, i) => this.#write(collection, i * 10_000_000)))
  }

  async #write(collection: Collection<Doc>, first: number): Promise<void> {
    for (let _id = first; !this.#isStopped; _id++) {
      await collection.insertOne({ _id }, { writeConcern: { w: 'majority' } }).then(
        () => this.acknowledged.push(_id),
        (error: unknown) => this.errors.push(error),
      )
      this.#onWritten?.()
    }
  }

  /** Resolves after so many further inserts. */
  more(count: number): Promise<void> {
    const until = this.acknowledged.length + count
    return new Promise((resolve) => {
      this.#onWritten = () => this.acknowledged.length >= until && resolve()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }
}

t.test('members on hosts that NATS connects', { skip: withoutNats, timeout: 600_000 }, async (t) => {
  await using hosts = await HostProcesses.start(machines)
  const { url, port } = hosts.server
  await using cluster = await ShardedCluster.start({
    shards,
    members: 3,
    nats: { url, machines, place: { mongos: ['H1'], balancer: ['H1'], 'shard01-1': ['H2'] } },
  })
  await using client = await MongoClient.connect(cluster.uri)
  const collection = client.db('app').collection<Doc>('things')
  await client.db('admin').command({ enableSharding: 'app', primaryShard: 'shard01' })
  await client.db('admin').command({ shardCollection: 'app.things', key: { _id: 'hashed' } })
  const members = (state: 'crashed' | 'started', names: readonly string[]): Promise<void> =>
    new Promise((resolve) => {
      const missing = new Set(names)
      cluster.on('member', (event) => {
        if (event.state === state && missing.delete(event.member) && missing.size === 0) resolve()
      })
    })
  const elected = (set: string): Promise<ElectionEvent> =>
    new Promise((resolve) => cluster.on('election', (event) => event.set === set && resolve(event)))

  await t.test('a reader of msgpack in Python reads the packets', { skip: withoutMsgpack }, async (t) => {
    const child = spawn(python, [reader, '127.0.0.1', String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    t.same((await lines.next()).value, 'ready')
    await collection.insertOne({ _id: -1, text: 'needle in a packet' } as Doc)
    let line = ''
    while (!line.includes('needle in a packet')) line = (await lines.next()).value as string
    t.match(line, /^\[\[\d, \d+, \d+, \d+, \d+, \[.*needle in a packet/, 'type, id, receiver, sender, kind, payload')
    child.kill()
    await once(child, 'exit')
  })

  const writers = new Writers(collection, 4)
  const onHost = (name: string): string[] =>
    cluster.members().flatMap(({ address, machine }) => (machine === name ? [address] : []))
  await writers.more(20)

  await t.test('a host that is killed: another primary is elected, and its members return with it', async (t) => {
    const names = onHost('H2')
    t.ok(names.includes('shard01-1'), 'the first member of shard01 is there')
    const [election, down] = [elected('shard01'), members('crashed', names)]
    await hosts.kill('H2')
    t.not((await election).member, 'shard01-1')
    await writers.more(20)
    await down
    const back = members('started', names)
    await hosts.run('H2')
    await back
    await writers.more(20)
  })

  await t.test('a host that is cut off from NATS: its members are down, and return as they were', async () => {
    const names = onHost('H3')
    const down = members('crashed', names)
    hosts.isCut = true
    await down
    await writers.more(20)
    const back = members('started', names)
    hosts.isCut = false
    await back
    await writers.more(20)
  })

  await t.test('a NATS server that is killed and starts again', async () => {
    await hosts.server.kill()
    await hosts.server.restart()
    await writers.more(20)
  })

  await writers.stop()
  t.same(writers.errors.map(String), [], 'clients saw no error')
  const found = new Set((await collection.find({}).toArray()).map(({ _id }) => _id))
  const lost = writers.acknowledged.filter((id) => !found.has(id))
  t.same(lost, [], `${writers.acknowledged.length} writes were acknowledged`)
})

t.test('wrong addresses, names and options are refused with a sentence', { skip: withoutNats }, async (t) => {
  const refused = async (args: readonly string[], message: RegExp): Promise<void> => {
    const { code, stderr } = await shardlab(...args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, message)
    t.equal(stderr.trimEnd().split('\n').length, 1)
  }
  await refused(['up', '--nats', 'nats://127.0.0.1:1', '--machines', 'H1'], /NATS cannot be reached at nats:\/\/127/)
  await refused(['host', '--nats', 'nats://127.0.0.1:1', '--name', 'H1'], /NATS cannot be reached/)
  await refused(['up', '--machines', 'H1'], /--machines and --place need --nats/)
  await refused(['up', '--nats', 'nats://127.0.0.1:1'], /--nats needs --machines/)
  await using hosts = await HostProcesses.start(['H1'])
  const { url } = hosts.server
  await refused(['up', '--port', '0', '--nats', url, '--machines', 'H1,H9'], /no host named H9 answers/)
  await refused(['host', '--nats', url, '--name', 'H1'], /another host is named H1/)
  await refused(['up', '--nats', url, '--machines', 'H1', '--place', 'config=H2'], /config is placed on H2/)
  await refused(['up', '--nats', url, '--machines', 'H1', '--clock', 'manual'], /clocks of machines/)
})
