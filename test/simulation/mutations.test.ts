/** Each mutation, in the shortest run in which its defect is visible. */
import { mutationNames, setMutationNames, type ClusterMutationName, type MutationName } from '@shardlab/actor'
import { decode, encode, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import {
  createClient,
  planOf,
  playSwarm,
  type Client,
  type Outcome,
  type Reduction,
  type RunOptions,
} from '@shardlab/scenario'
import t from 'tap'

const $db = 'app'

/** Two shards, two mongoses; app.c has keys 0 to 19 on shard01, with a chunk from 10. */
class Story {
  readonly cluster: SimulatedCluster
  readonly client: Client

  private constructor(cluster: SimulatedCluster) {
    this.cluster = cluster
    this.client = createClient(cluster)
  }

  static async begin(mutations: readonly MutationName[]): Promise<Story> {
    const cluster = await createSimulatedCluster({ seed: 1, shards: 2, mongos: 2, emulate: '7.0', mutations })
    const story = new Story(cluster)
    await story.do({ enableSharding: $db, primaryShard: 'shard01', $db: 'admin' })
    await story.do({ shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
    await story.do({ insert: 'c', documents: Array.from({ length: 20 }, (_, k) => ({ _id: k, k, n: 0 })), $db })
    await story.do({ split: 'app.c', middle: { k: 10 }, $db: 'admin' })
    return story
  }

  run(command: Document, options?: RunOptions): Promise<Outcome> {
    return this.cluster.during(this.client.run({ ...command, $db: command['$db'] ?? $db }, options))
  }

  async do(command: Document, options?: RunOptions): Promise<Document> {
    const outcome = await this.run(command, options)
    if (!outcome.ok) throw new Error(`${JSON.stringify(command)}: ${outcome.message}`)
    return outcome.reply
  }

  /** @param options of the first command */
  transaction(options: Document = {}): StoryTransaction {
    const fields = { lsid: this.client.startSession().lsid, txnNumber: Long.fromNumber(1000), autocommit: false }
    let first: Document = { ...options, startTransaction: true }
    const to = this.cluster.mongos[0]!
    const run = (command: Document): Promise<Outcome> => {
      const sent = { ...command, ...fields, ...first }
      first = {}
      return this.run(sent, { to, retryable: false })
    }
    return {
      run,
      do: async (command) => {
        const outcome = await run(command)
        if (!outcome.ok) throw new Error(`${JSON.stringify(command)}: ${outcome.message}`)
        return outcome.reply
      },
      commit: () => run({ commitTransaction: 1, writeConcern: { w: 'majority' }, $db: 'admin' }),
    }
  }

  /** Number of documents that a client sees. */
  async count(filter: Document = {}, options?: RunOptions): Promise<number> {
    return (await this.do({ find: 'c', filter }, options))['cursor'].firstBatch.length
  }

  /** Moves the chunk from 10 to shard02. */
  move(): Promise<Document> {
    return this.do({ moveChunk: 'app.c', find: { k: 10 }, to: 'shard02', $db: 'admin' })
  }

  /** The same, and runs `work` while the migration is held at a step. */
  async moveWhile(step: string, work: () => Promise<unknown>): Promise<void> {
    const fault = await this.cluster.steps.arm(step, 'hold', { times: 1 })
    const moved = this.move()
    await this.cluster.during(this.cluster.steps.struck(fault))
    const worked = work()
    // Operations that wait for the end of the migration continue to wait.
    await this.cluster.advance(100)
    await this.cluster.steps.heal(fault)
    await Promise.all([moved, worked])
  }
}

/** Each returns a value that is the same for every cluster without a defect. */
const stories: Record<ClusterMutationName, (story: Story) => Promise<unknown>> = {
  /** Orphans are invisible. */
  async ownershipFilterOff(story) {
    await story.move()
    return story.count()
  },
  /** A write that was acknowledged during a migration exists. */
  async criticalSectionOff(story) {
    const insert = { insert: 'c', documents: [{ _id: 100, k: 100 }] }
    await story.moveWhile('shard.migration.committing', () => story.do(insert))
    return story.count({ k: 100 })
  },
  /** A write whose reply was lost, and which the client retried, was executed once. */
  async retryDedupeOff(story) {
    const [to] = story.cluster.mongos
    const increment = { update: 'c', updates: [{ q: { k: 1 }, u: { $inc: { n: 1 } } }] }
    await story.count({}, { to: to! })
    await story.cluster.faults.apply(`cut replies of ${to} to clients first 1`)
    await story.do(increment, { to: to! })
    return (await story.do({ find: 'c', filter: { k: 1 } }))['cursor'].firstBatch[0].n
  },
  /** A write that the client retries after its document has moved was executed once. */
  async sessionMigrationOff(story) {
    const { lsid } = story.client.startSession()
    const increment = {
      update: 'c',
      updates: [{ q: { k: 15 }, u: { $inc: { n: 1 } } }],
      lsid,
      txnNumber: Long.fromNumber(100),
    }
    await story.do(increment)
    await story.move()
    await story.do(increment)
    return (await story.do({ find: 'c', filter: { k: 15 } }))['cursor'].firstBatch[0].n
  },
  /** Documents written during the copy of a range exist. */
  async catchUpOff(story) {
    const insert = { insert: 'c', documents: [{ _id: 100, k: 100 }] }
    await story.moveWhile('shard.migration.recipient-cloned', () => story.do(insert))
    return story.count({ k: 100 })
  },
  /** A mongos with outdated routes finds the documents. */
  async versionCheckOff(story) {
    const [one, other] = story.cluster.mongos
    await story.count({ k: 15 }, { to: other! })
    await story.do({ moveChunk: 'app.c', find: { k: 10 }, to: 'shard02', $db: 'admin' }, { to: one! })
    return story.count({ k: 15 }, { to: other! })
  },
  /** A shard has no collection of a dropped database. */
  async ddlLocksOff(story) {
    const { cluster } = story
    await cluster.faults.apply('delay between shard01 and shard02 by 100ms')
    const fault = await cluster.steps.arm('shard.drop-database.collections-committed', 'hold', { times: 1 })
    const dropping = story.do({ dropDatabase: 1 })
    await cluster.during(cluster.steps.struck(fault))
    await cluster.steps.heal(fault)
    await cluster.advance(50)
    await Promise.all([dropping, story.do({ shardCollection: 'app.d', key: { k: 1 }, $db: 'admin' })])
    const { cursor } = await story.do({
      find: 'collections',
      filter: { _id: /^app/, dropped: { $ne: true } },
      $db: 'config',
    })
    const known = new Set((cursor.firstBatch as Document[]).map(({ _id }) => _id))
    let unknown = 0
    for (const shard of cluster.shards) {
      const reply = decode(await cluster.command(encode({ listCollections: 1, nameOnly: true, $db }), { to: shard }))
      for (const { name } of reply['cursor'].firstBatch as Document[]) if (!known.has(`${$db}.${name}`)) unknown++
    }
    return unknown
  },
  /** A change of a document that has moved since then is an event. */
  async streamHistoryOff(story) {
    return (await eventsOf(story, async () => void (await story.move()))).length
  },
  /** A move is invisible. */
  async streamMigrationFilterOff(story) {
    return (await eventsOf(story, async () => void (await story.move()))).length
  },
  /** Events of different shards are in the order of their times. */
  async streamPromisesOff(story) {
    await story.move()
    const events = await eventsOf(story, async () => {
      await story.cluster.faults.apply(`delay between ${story.cluster.mongos[0]} and shard01 by 50ms`)
      for (const k of [1, 11, 2, 12]) await story.do({ update: 'c', updates: [{ q: { k }, u: { $inc: { n: 1 } } }] })
    })
    const keys = events.map(({ documentKey }) => (documentKey as Document)['k'] as number)
    return keys.slice(1).join(' ')
  },
  /** A shard that loses its part of a transaction before the commit leaves nothing of it. */
  async prepareOff(story) {
    const { cluster } = story
    await story.move()
    const txn = story.transaction()
    for (const k of [1, 15]) await txn.do(increment(k))
    await cluster.crash('shard02')
    const committing = txn.commit()
    await cluster.advance(100)
    await cluster.restart('shard02')
    await committing
    return story.count({ n: 1 })
  },
  /** A shard that has not received the decision about a transaction receives it later. */
  async decisionRecordOff(story) {
    const { cluster } = story
    await story.move()
    const txn = story.transaction()
    for (const k of [1, 15]) await txn.do(increment(k))
    const fault = await cluster.steps.arm('shard.transaction.decided', 'hold', { times: 1 })
    void txn.commit()
    await cluster.during(cluster.steps.struck(fault))
    await cluster.crash('shard02')
    await cluster.steps.heal(fault)
    await cluster.advance(20)
    await cluster.crash('shard01')
    for (const shard of cluster.shards) await cluster.restart(shard)
    await cluster.advance(5000)
    return story.count({ n: 1 })
  },
  /** Reads of one transaction see the same moment on each shard. */
  async snapshotTimeOff(story) {
    await story.move()
    const txn = story.transaction({ readConcern: { level: 'snapshot' } })
    await txn.do({ find: 'c', filter: { k: 1 } })
    for (const k of [1, 15]) await story.do(increment(k))
    return (await txn.do({ find: 'c', filter: { k: 15 } }))['cursor'].firstBatch[0].n
  },
  /** Each increment that was acknowledged is there. */
  async writeConflictOff(story) {
    const txn = story.transaction()
    await txn.do({ find: 'c', filter: { k: 1 } })
    await story.do(increment(1))
    const outcomes = [await txn.run(increment(1)), await txn.commit()]
    const { n } = (await story.do({ find: 'c', filter: { k: 1 } }))['cursor'].firstBatch[0]
    return `${outcomes.every(({ ok }) => ok) ? 2 : 1} acknowledged, ${n} there`
  },
}

const increment = (k: number): Document => ({ update: 'c', updates: [{ q: { k }, u: { $inc: { n: 1 } } }] })

interface StoryTransaction {
  run(command: Document): Promise<Outcome>
  do(command: Document): Promise<Document>
  commit(): Promise<Outcome>
}

/** Those of a change stream, after an update of the document with key 15. */
async function eventsOf(story: Story, work: () => Promise<void>): Promise<Document[]> {
  const [to] = story.cluster.mongos
  const opened = await story.do({ aggregate: 'c', pipeline: [{ $changeStream: {} }], cursor: {} }, { to: to! })
  await story.do({ update: 'c', updates: [{ q: { k: 15 }, u: { $inc: { n: 1 } } }] })
  await work()
  const events: Document[] = []
  for (let i = 0; i < 6; i++) {
    const getMore = { getMore: opened['cursor'].id as unknown, collection: 'c', maxTimeMS: 300 }
    events.push(...((await story.do(getMore, { to: to! }))['cursor'].nextBatch as Document[]))
  }
  return events
}

t.strictSame(Object.keys(stories).toSorted(), mutationNames.toSorted(), 'every mutation has a run')

const sound: Record<ClusterMutationName, unknown> = {
  ownershipFilterOff: 20,
  criticalSectionOff: 1,
  retryDedupeOff: 1,
  sessionMigrationOff: 1,
  catchUpOff: 1,
  versionCheckOff: 1,
  ddlLocksOff: 0,
  streamHistoryOff: 1,
  streamMigrationFilterOff: 1,
  streamPromisesOff: '1 11 2 12',
  prepareOff: 0,
  decisionRecordOff: 2,
  snapshotTimeOff: 0,
  writeConflictOff: '1 acknowledged, 1 there',
}
const defective: Record<ClusterMutationName, unknown> = {
  ownershipFilterOff: 30,
  criticalSectionOff: 0,
  retryDedupeOff: 2,
  sessionMigrationOff: 2,
  catchUpOff: 0,
  versionCheckOff: 0,
  ddlLocksOff: 1,
  streamHistoryOff: 0,
  streamMigrationFilterOff: 11,
  streamPromisesOff: '11 12 1 2',
  prepareOff: 1,
  decisionRecordOff: 1,
  snapshotTimeOff: 1,
  writeConflictOff: '2 acknowledged, 1 there',
}

for (const name of mutationNames) {
  t.test(name, async (t) => {
    for (const [mutations, expected] of [
      [[], sound[name]],
      [[name], defective[name]],
    ] as const) {
      const story = await Story.begin(mutations)
      t.equal(await stories[name](story), expected, mutations.length === 0 ? 'without the defect' : 'with the defect')
      await story.cluster.stop()
    }
  })
}

/** The first run of a swarm with sets of three that is played. Short runs look for one mutation. */
const firstRuns: Record<(typeof setMutationNames)[number], number> = {
  writeConcernWaitOff: 3,
  voteRecordOff: 15,
  voteFreshnessOff: 27,
  rollbackOff: 2,
  causalWaitOff: 5,
  linearizableProofOff: 94,
}
const runsMax = 200
const without: Reduction['without'] = ['streams']

for (const mutation of setMutationNames) {
  const first = firstRuns[mutation]
  const skip = mutation !== 'causalWaitOff' && process.env['SHARDLAB_LONG'] !== '1' && 'only in long runs'
  t.test(`a swarm finds ${mutation} within ${runsMax} runs`, { skip, timeout: 3_600_000 }, async (t) => {
    for (let seed = first; seed < first + runsMax; seed++) {
      const plan = planOf(seed, { members: 3, without })
      const { violations } =
        plan.members === 3 ? await playSwarm(plan, { mutation, recorded: null }) : { violations: [] }
      const [found] = violations
      if (found !== undefined) return t.pass(`seed ${seed}: ${found.checker}: ${found.sentence}`)
    }
    return t.fail('it was not found')
  })
}

t.test('an unknown mutation is an error', async (t) => {
  await t.rejects(createSimulatedCluster({ mutations: ['allOff' as MutationName] }), {
    message: /^allOff is not a mutation; the mutations are ownershipFilterOff, /,
  })
})
