/**
 * The simulated client behaves like the official driver: one script through both gives equal
 * results and sends equal commands.
 */
import type { ClusterOptions } from '@shardlab/cluster'
import type { Document } from '@shardlab/bson'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { heartbeatMs, speakSimulated, speakThroughDriver, type Result, type Sent, type Speaker } from './two-clients.js'

const $db = 'app'
const coll = 'things'
const ns = `${$db}.${coll}`
/** Reads from both shards, in three batches. */
const batches: Document = { find: coll, filter: { x: { $gte: -4, $lte: 4 } }, batchSize: 3, $db }

interface Seen {
  readonly what: string
  readonly result: Result
  readonly sent: readonly Sent[]
}

/** Keys below 0 are on shard01, others on shard02. */
const setUp: readonly Document[] = [
  { enableSharding: $db, primaryShard: 'shard01', $db: 'admin' },
  { shardCollection: ns, key: { x: 1 }, $db: 'admin' },
  { split: ns, middle: { x: 0 }, $db: 'admin' },
  { moveChunk: ns, find: { x: 1 }, to: 'shard02', $db: 'admin' },
  { insert: coll, documents: [-4, -3, -2, -1, 1, 2, 3, 4].map((x) => ({ _id: x, x })), $db },
]

/** Runs the script and records results. */
class Script {
  readonly seen: Seen[] = []
  readonly #speaker: Speaker
  readonly #bulkWrite: boolean
  #x = 100

  /** @param bulkWrite whether the server has the command (since 8.0) */
  constructor(speaker: Speaker, bulkWrite: boolean) {
    this.#speaker = speaker
    this.#bulkWrite = bulkWrite
  }

  async prepare(): Promise<void> {
    for (const command of setUp) {
      const result = await this.#speaker.run(command, { runCommand: true })
      if (!result.ok) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(result)}`)
    }
    this.#speaker.sent()
  }

  /** Key of a document that does not exist. */
  nextKey(): number {
    return ++this.#x
  }

  async note(what: string, work: () => Promise<Result>): Promise<void> {
    const result = await work()
    this.seen.push({ what, result, sent: this.#speaker.sent() })
  }

  /** Runs each kind of command once, and calls `under` before each. */
  async every(
    title: string,
    under: () => Promise<unknown> = async () => {},
    isAsked = (_what: string): boolean => true,
  ): Promise<void> {
    const key = (): number => this.nextKey()
    const commands: Record<string, Document> = {
      'find by key': { find: coll, filter: { x: 1 } },
      'find everywhere': { find: coll, filter: {}, batchSize: 3 },
      aggregate: { aggregate: coll, pipeline: [{ $match: { x: { $lt: 100 } } }], cursor: {} },
      distinct: { distinct: coll, key: 'kind', query: {} },
      count: { count: coll },
      listCollections: { listCollections: 1 },
      'insert one': { insert: coll, documents: [{ _id: key(), x: this.#x }] },
      'insert on both': {
        insert: coll,
        documents: [
          { _id: -key(), x: -this.#x },
          { _id: key(), x: this.#x },
        ],
      },
      'update one': { update: coll, updates: [{ q: { x: 1 }, u: { $inc: { n: 1 } } }] },
      'update many': { update: coll, updates: [{ q: {}, u: { $inc: { n: 1 } }, multi: true }] },
      'delete one': { delete: coll, deletes: [{ q: { x: 1000 }, limit: 1 }] },
      'delete many': { delete: coll, deletes: [{ q: { x: 1000 }, limit: 0 }] },
      findAndModify: { findAndModify: coll, query: { x: 5000 }, update: { $inc: { n: 1 } } },
      'write to a collection': { aggregate: coll, pipeline: [{ $match: { x: 1 } }, { $out: 'copy' }], cursor: {} },
    }
    if (this.#bulkWrite) {
      const nsInfo = [{ ns }]
      const insert = { insert: 0, document: { _id: key(), x: this.#x } }
      const update = { update: 0, filter: { x: 1 }, updateMods: { $inc: { n: 1 } } }
      commands['bulkWrite'] = { bulkWrite: 1, ops: [insert, { ...update, multi: false }], nsInfo, $db: 'admin' }
      commands['bulkWrite with many'] = { bulkWrite: 1, ops: [{ ...update, multi: true }], nsInfo, $db: 'admin' }
    }
    for (const [what, command] of Object.entries(commands).filter(([what]) => isAsked(what))) {
      await under()
      await this.note(`${title}: ${what}`, () => this.#speaker.run({ ...command, $db: command['$db'] ?? $db }))
    }
    await under()
    await this.note(`${title}: runCommand`, () => this.#speaker.run({ count: coll, $db }, { runCommand: true }))
  }
}

/** `data` of failCommand for every command of the script. */
const failing = (data: Document): Document => ({
  ...data,
  failCommands:
    'find aggregate distinct count listCollections insert update delete findAndModify bulkWrite getMore'.split(' '),
})
const failPoint = (mode: Document | string, data: Document = {}): Document => ({
  configureFailPoint: 'failCommand',
  mode,
  data,
})

/** Commands for which a mongos fails, returns a given error, or closes the connection. */
async function playFailPoints(script: Script, speaker: Speaker, mongos: number): Promise<void> {
  const arm = (mode: Document, data: Document) => speaker.tellMongoses(failPoint(mode, failing(data)))
  const under = (mode: Document, data: Document) => () => arm(mode, data)
  const off = () => speaker.tellMongoses(failPoint('off'))
  await script.every('fails once', under({ times: 1 }, { errorCode: 6 }))
  await script.every('fails twice', under({ times: 2 }, { errorCode: 6 }))
  await off()
  // A client that has lost a mongos reconnects within a heartbeat; with one mongos every command
  // waits for that anyway.
  const calm = async () => {
    await off()
    if (mongos > 1) await speaker.wait(heartbeatMs + 100)
  }
  const closed = async () => {
    await calm()
    await arm({ times: 1 }, { closeConnection: true })
  }
  await script.every(
    'closed once',
    closed,
    (what) => mongos === 1 || ['find by key', 'insert one', 'update many'].includes(what),
  )
  for (const errorCode of mongos === 1 ? [10_107, 91, 262, 134, 11_000] : [10_107, 262]) {
    await calm()
    await script.note(`find after ${errorCode}`, async () => {
      await arm({ times: 1 }, { errorCode })
      return speaker.run({ find: coll, filter: { x: 1 }, $db })
    })
  }
  const both = ['RetryableWriteError', 'NoWritesPerformed']
  const writeConcernError = { code: 91, errmsg: 'Replication is being shut down' }
  for (const [what, times, data] of [
    ['a label of the fail point', 1, { errorCode: 8, errorLabels: ['RetryableWriteError'] }],
    ['no label', 1, { errorCode: 6, errorLabels: [] }],
    ['a write concern that fails once', 1, { writeConcernError, errorLabels: ['RetryableWriteError'] }],
    ['nothing was written by any attempt', 2, { errorCode: 6, errorLabels: both }],
  ] as const) {
    if (mongos > 1 && times === 1) continue
    await calm()
    await script.note(what, async () => {
      await arm({ times }, data)
      const x = script.nextKey()
      return speaker.run({ insert: coll, documents: [{ _id: x, x }], $db })
    })
  }
  for (const data of [{ errorCode: 6 }, { closeConnection: true }]) {
    await calm()
    await script.note(`getMore with ${JSON.stringify(data)}`, () =>
      speaker.read(batches, () => arm({ times: 1 }, data)),
    )
  }
  await calm()
}

/** The script without faults. */
async function playCalmly(script: Script, speaker: Speaker): Promise<void> {
  await script.every('undisturbed')
  await script.note('a key that is there', () => speaker.run({ insert: coll, documents: [{ _id: 1, x: 1 }], $db }))
  await script.note('unacknowledged', async () => {
    const result = await speaker.run({ insert: coll, documents: [{ _id: 3000, x: 3000 }], writeConcern: { w: 0 }, $db })
    return { ...result, value: null }
  })
  await script.note('a cursor', () => speaker.read(batches, async () => {}))
  await script.note('a cursor that is closed', () => speaker.read(batches, async () => {}, 3))
  const session = speaker.session()
  await script.note('session: write', () =>
    speaker.run({ insert: coll, documents: [{ _id: 4000, x: 4000 }], $db }, { session }),
  )
  await script.note('session: read', () => speaker.run({ find: coll, filter: { x: 4000 }, $db }, { session }))
  await speaker.end(session)
  await script.note('the session is used again', () => speaker.run({ find: coll, filter: { x: 4000 }, $db }))
}

async function playFault(script: Script, speaker: Speaker, fault: string): Promise<void> {
  const id = await speaker.fault(fault)
  await speaker.wait(20)
  const [below, above, again] = [-script.nextKey(), script.nextKey(), -script.nextKey()]
  const commands: Record<string, Document> = {
    find: { find: coll, filter: { x: 1 } },
    'ordered bulk': { insert: coll, documents: [below, above, again].map((x) => ({ _id: x, x })) },
  }
  // Without any mongos each command would wait as long as these do.
  if (!/ (?:to|from) clients$/.test(fault)) {
    commands['find elsewhere'] = { find: coll, filter: { x: -1 } }
    commands['update many'] = { update: coll, updates: [{ q: {}, u: { $inc: { n: 1 } }, multi: true }] }
  }
  for (const [what, command] of Object.entries(commands))
    await script.note(`${fault}: ${what}`, () => speaker.run({ ...command, $db }))
  await speaker.heal(id)
  await script.note(`${fault}, healed`, () => speaker.run({ find: coll, filter: { x: 1 }, $db }))
}

interface World {
  readonly options: ClusterOptions
  /** Whether the clients retry. Default true. */
  readonly retries?: boolean
  readonly failPoints: boolean
  readonly faults: readonly string[]
}

const [crash, drop] = ['crash shard02', 'drop between mongos01 and shard02']
/** One fault of each kind that a client may notice. */
const everyFault = [
  crash,
  drop,
  'step down shard02',
  'restart shard02',
  'pause shard02',
  'partition shard02 from mongos01',
  'fill disk of shard02',
  'refuse connections to shard02 from mongos01',
  'cut replies of shard02 to mongos01',
  'config unavailable',
  'fail at mongos.read.targeted',
  'delay from clients to mongos01 by 2ms',
  'cut replies of mongos01 to clients',
  'refuse connections to mongos01 from clients',
]
const worlds: Readonly<Record<string, World>> = {
  'one mongos, 8.0': { options: { mongos: 1, emulate: '8.0' }, failPoints: true, faults: everyFault },
  'two mongoses, 4.4': { options: { mongos: 2, emulate: '4.4' }, failPoints: true, faults: [crash, 'crash mongos01'] },
  'without retries, 7.0': { options: { mongos: 1, emulate: '7.0' }, retries: false, failPoints: true, faults: [] },
  // A mongos of 4.0 has no failCommand and attaches no labels: no write is retried because of a
  // reply.
  'one mongos, 4.0': { options: { mongos: 1, emulate: '4.0' }, failPoints: false, faults: [crash, drop] },
}

async function play(speaker: Speaker, { options, failPoints, faults }: World): Promise<readonly Seen[]> {
  const script = new Script(speaker, options.emulate === '8.0')
  await script.prepare()
  await playCalmly(script, speaker)
  if (failPoints) await playFailPoints(script, speaker, options.mongos!)
  for (const fault of faults) await playFault(script, speaker, fault)
  return script.seen
}

async function playWith(start: typeof speakSimulated, world: World): Promise<readonly Seen[]> {
  const speaker = await start(world.options, world.retries !== false)
  try {
    return await play(speaker, world)
  } finally {
    await speaker.stop()
  }
}

/**
 * The driver's plays have ended: simulated ones compute without pauses and would delay the driver's
 * timers.
 */
const driven = Promise.allSettled(Object.values(worlds).map((world) => playWith(speakThroughDriver, world)))

for (const [i, [name, world]] of Object.entries(worlds).entries()) {
  t.test(name, async (t) => {
    const first = (await driven)[i]!
    const simulated = await playWith(speakSimulated, world)
    // The driver uses the clock of the machine. A pause longer than a timeout affects one play, not
    // three.
    let driver = first.status === 'fulfilled' ? first.value : await playWith(speakThroughDriver, world)
    for (let more = 2; more > 0 && !isDeepStrictEqual(driver, simulated); more--)
      driver = await playWith(speakThroughDriver, world)
    t.equal(simulated.length, driver.length)
    for (const [i, { what, result, sent }] of driver.entries()) {
      t.same(simulated[i]!.result, result, `${what}: the same result`)
      t.same(simulated[i]!.sent, sent, `${what}: the same was sent`)
    }
  })
}
