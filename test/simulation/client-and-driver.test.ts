/** The simulated client does what the official driver does: the same script through both, and what came of it and was sent. */
import type { ClusterOptions } from '@shardlab/cluster'
import type { Document } from '@shardlab/bson'
import t from 'tap'
import { speakSimulated, speakThroughDriver, type Result, type Sent, type Speaker } from './two-clients.js'

const $db = 'app'
const coll = 'things'
const ns = `${$db}.${coll}`

interface Seen {
  readonly what: string
  readonly result: Result
  readonly sent: readonly Sent[]
}

/** Keys below 0 lie on shard01, others on shard02. */
const setUp: readonly Document[] = [
  { enableSharding: $db, primaryShard: 'shard01', $db: 'admin' },
  { shardCollection: ns, key: { x: 1 }, $db: 'admin' },
  { split: ns, middle: { x: 0 }, $db: 'admin' },
  { moveChunk: ns, find: { x: 1 }, to: 'shard02', $db: 'admin' },
  { insert: coll, documents: [-4, -3, -2, -1, 1, 2, 3, 4].map((x) => ({ _id: x, x })), $db },
]

/** Goes through the script and takes notes. */
class Script {
  readonly seen: Seen[] = []
  readonly #speaker: Speaker
  #x = 100

  constructor(speaker: Speaker) {
    this.#speaker = speaker
  }

  async prepare(): Promise<void> {
    for (const command of setUp) {
      const result = await this.#speaker.run(command, { runCommand: true })
      if (!result.ok) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(result)}`)
    }
    this.#speaker.sent()
  }

  async note(what: string, work: () => Promise<Result>): Promise<void> {
    const result = await work()
    this.seen.push({ what, result, sent: this.#speaker.sent() })
  }

  /** Each kind of command once; `under` is called before each of them. */
  async every(title: string, under: () => Promise<unknown> = async () => {}): Promise<void> {
    const key = (): number => ++this.#x
    const commands: Record<string, Document> = {
      'find by key': { find: coll, filter: { x: 1 } },
      'find everywhere': { find: coll, filter: {}, batchSize: 3 },
      aggregate: { aggregate: coll, pipeline: [{ $match: { x: { $lt: 100 } } }], cursor: {} },
      distinct: { distinct: coll, key: 'kind', query: {} },
      count: { count: coll },
      listCollections: { listCollections: 1 },
      'insert one': { insert: coll, documents: [{ _id: key(), x: this.#x }] },
      'insert on both': { insert: coll, documents: [{ _id: -key(), x: -this.#x }, { _id: key(), x: this.#x }] },
      'update one': { update: coll, updates: [{ q: { x: 1 }, u: { $inc: { n: 1 } } }] },
      'update many': { update: coll, updates: [{ q: {}, u: { $inc: { n: 1 } }, multi: true }] },
      'delete one': { delete: coll, deletes: [{ q: { x: 1000 }, limit: 1 }] },
      'delete many': { delete: coll, deletes: [{ q: { x: 1000 }, limit: 0 }] },
      findAndModify: { findAndModify: coll, query: { x: 5000 }, update: { $inc: { n: 1 } } },
      'write to a collection': { aggregate: coll, pipeline: [{ $match: { x: 1 } }, { $out: 'copy' }], cursor: {} },
    }
    for (const [what, command] of Object.entries(commands)) {
      await under()
      await this.note(`${title}: ${what}`, () => this.#speaker.run({ ...command, $db }))
    }
    await under()
    await this.note(`${title}: runCommand`, () => this.#speaker.run({ count: coll, $db }, { runCommand: true }))
  }
}

/** `data` of failCommand for every command of the script. */
const failing = (data: Document): Document => ({
  ...data,
  failCommands: ['find', 'aggregate', 'distinct', 'count', 'listCollections', 'insert', 'update', 'delete', 'findAndModify', 'getMore'],
})
const failPoint = (mode: Document | string, data: Document = {}): Document => ({ configureFailPoint: 'failCommand', mode, data })

async function play(speaker: Speaker, faults: readonly string[]): Promise<readonly Seen[]> {
  const script = new Script(speaker)
  await script.prepare()
  await script.every('undisturbed')
  const under = (mode: Document, data: Document) => () => speaker.tellMongoses(failPoint(mode, failing(data)))

  await script.every('fails once', under({ times: 1 }, { errorCode: 6 }))
  await script.every('fails twice', under({ times: 2 }, { errorCode: 6 }))
  await speaker.tellMongoses(failPoint('off'))
  await script.every('closed once', under({ times: 1 }, { closeConnection: true }))
  for (const code of [10_107, 91, 262, 134, 11_000]) {
    await script.note(`find after ${code}`, async () => {
      await speaker.tellMongoses(failPoint({ times: 1 }, failing({ errorCode: code })))
      return speaker.run({ find: coll, filter: { x: 1 }, $db })
    })
    }
  await script.note('a label of the fail point', async () => {
    await speaker.tellMongoses(failPoint({ times: 1 }, failing({ errorCode: 8, errorLabels: ['RetryableWriteError'] })))
    return speaker.run({ insert: coll, documents: [{ _id: 2000, x: 2000 }], $db })
  })
  await script.note('no label', async () => {
    await speaker.tellMongoses(failPoint({ times: 1 }, failing({ errorCode: 6, errorLabels: [] })))
    return speaker.run({ insert: coll, documents: [{ _id: 2001, x: 2001 }], $db })
  })
  await script.note('a write concern that fails once', async () => {
    const writeConcernError = { code: 91, errmsg: 'Replication is being shut down' }
    await speaker.tellMongoses(failPoint({ times: 1 }, failing({ writeConcernError, errorLabels: ['RetryableWriteError'] })))
    return speaker.run({ insert: coll, documents: [{ _id: 2002, x: 2002 }], $db })
  })
  await script.note('nothing was written by the second attempt', async () => {
    await speaker.tellMongoses(failPoint({ times: 2 }, failing({ errorCode: 6, errorLabels: ['RetryableWriteError', 'NoWritesPerformed'] })))
    return speaker.run({ insert: coll, documents: [{ _id: 2003, x: 2003 }], $db })
  })
  await speaker.tellMongoses(failPoint('off'))
  await script.note('a key that is there', () => speaker.run({ insert: coll, documents: [{ _id: 1, x: 1 }], $db }))
  await script.note('unacknowledged', () =>
    speaker.run({ insert: coll, documents: [{ _id: 3000, x: 3000 }], writeConcern: { w: 0 }, $db }).then((result) => ({ ...result, value: null })),
  )

  const batches: Document = { find: coll, filter: { x: { $gte: -4, $lte: 4 } }, batchSize: 3, $db }
  await script.note('a cursor', () => speaker.read(batches, async () => {}))
  await script.note('a cursor that is closed', () => speaker.read(batches, async () => {}, 3))
  for (const data of [{ errorCode: 6 }, { closeConnection: true }]) {
    await script.note(`getMore with ${JSON.stringify(data)}`, () =>
      speaker.read(batches, () => speaker.tellMongoses(failPoint({ times: 1 }, failing(data)))),
    )
    await speaker.tellMongoses(failPoint('off'))
    }

  const session = speaker.session()
  await script.note('session: write', () => speaker.run({ insert: coll, documents: [{ _id: 4000, x: 4000 }], $db }, { session }))
  await script.note('session: read', () => speaker.run({ find: coll, filter: { x: 4000 }, $db }, { session }))
  await script.note('session: unacknowledged', () =>
    speaker.run({ find: coll, filter: { x: 4000 }, batchSize: 1, $db }, { session }),
  )
  await speaker.end(session)
  await script.note('the session is used again', () => speaker.run({ find: coll, filter: { x: 4000 }, $db }))

  for (const fault of faults) {
    const id = await speaker.fault(fault)
    await speaker.wait(20)
    // Each of the others would wait as long as these do.
    const isAll = !fault.endsWith('to clients')
    for (const [what, command] of Object.entries({
      find: { find: coll, filter: { x: 1 } },
      ...(isAll ? { 'find elsewhere': { find: coll, filter: { x: -1 } } } : {}),
      'ordered bulk': { insert: coll, documents: [-6001, 6001, -6002].map((x) => ({ _id: x, x })) },
      ...(isAll ? { 'update many': { update: coll, updates: [{ q: {}, u: { $inc: { n: 1 } }, multi: true }] } } : {}),
    }))
      await script.note(`${fault}: ${what}`, () => speaker.run({ ...command, $db }))
    await speaker.heal(id)
    await script.note(`${fault}, healed`, () => speaker.run({ find: coll, filter: { x: 1 }, $db }))
  }
  return script.seen
}

const clusterFaults = ['crash shard02', 'step down shard02', 'drop between mongos01 and shard02', 'cut replies of mongos01 to clients']
const worlds: readonly (readonly [name: string, options: ClusterOptions, faults: readonly string[]])[] = [
  ['one mongos, 7.0', { mongos: 1, emulate: '7.0' }, clusterFaults],
  ['two mongoses, 4.4', { mongos: 2, emulate: '4.4' }, ['crash shard02', 'crash mongos01']],
]

for (const [name, options, faults] of worlds) {
  t.test(name, async (t) => {
    const seen = await Promise.all(
      [speakThroughDriver, speakSimulated].map(async (start) => {
        const speaker = await start(options)
        try {
          return await play(speaker, faults)
        } finally {
          await speaker.stop()
        }
      }),
    )
    const [driver, simulated] = seen as [readonly Seen[], readonly Seen[]]
    t.equal(simulated.length, driver.length)
    for (const [i, { what, result, sent }] of driver.entries()) {
      t.same(simulated[i]!.result, result, `${what}: the same result`)
      t.same(simulated[i]!.sent, sent, `${what}: the same was sent`)
    }
  })
}
