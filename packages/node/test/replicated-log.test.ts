import { bytesOfImage } from '@shardlab/actor'
import { RawValue, type Document } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { FakeDisk } from '@shardlab/actor/testing'
import { createMemoryEngine } from '@shardlab/storage'
import { ClusterClock } from '@shardlab/actor'
import fc from 'fast-check'
import t from 'tap'
import { NodeLog } from '../src/log/node-log.js'
import { RetryHistory } from '../src/retry/retry-history.js'
import { long, NodeUnderTest, session } from './support/harness.js'

class Follower {
  readonly engine = createMemoryEngine()
  readonly clock = new ClusterClock(() => 0)
  readonly retries = new RetryHistory({ bytesMax: 1e9 })
  readonly log: NodeLog
  readonly disk: FakeDisk
  readonly #checkpointAfterBytes: number

  constructor(disk: FakeDisk, checkpointAfterBytes: number) {
    this.disk = disk
    this.#checkpointAfterBytes = checkpointAfterBytes
    this.log = new NodeLog({
      engine: this.engine,
      disk,
      clock: this.clock,
      now: () => 0,
      detach: () => {},
      retries: this.retries,
      options: { checkpointAfterBytes, oplogSizeBytes: 1e9 },
    })
    this.log.recover()
  }

  restarted(): Follower {
    return new Follower(this.disk, this.#checkpointAfterBytes)
  }
}

function oplogOf(log: NodeLog): string {
  return Buffer.concat(log.oplog.window().parts()).toString('hex')
}

function stateOf({ engine, retries }: Pick<Follower, 'engine' | 'retries'>): string {
  // A session that has changed nothing is not in the log.
  const sessions = retries.export().filter(({ namespaces }) => namespaces.length > 0)
  const written = sessions.map(({ namespaces, ...session }) => [
    session,
    namespaces.map(({ ns, statements, runs }) => [
      ns,
      ...statements.map(({ stmtId, ...statement }) => [stmtId, statement]),
      // The source packs documents that were inserted together.
      ...runs.flatMap((run) => [...run.stmtIds()].map((stmtId) => [stmtId, run.statement(stmtId)])),
    ]),
  ])
  return `${Buffer.from(bytesOfImage(engine.checkpoint())).toString('hex')} ${JSON.stringify(written, text)}`
}

function text(_: string, value: unknown): unknown {
  if (value instanceof RawValue) return Buffer.from(value.slice()).toString('hex')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return typeof value === 'bigint' ? String(value) : value
}

const id = fc.integer({ min: 0, max: 9 })
const command: fc.Arbitrary<Document> = fc.oneof(
  fc.record({
    insert: fc.constant('a'),
    documents: fc.array(fc.record({ _id: id, v: id }), { minLength: 1, maxLength: 3 }),
  }),
  fc
    .tuple(id, fc.boolean())
    .map(([q, upsert]) => ({ update: 'a', updates: [{ q: { _id: q }, u: { $inc: { v: 1 } }, upsert }] })),
  id.map((v) => ({ delete: 'a', deletes: [{ q: { v: { $lt: v } }, limit: 0 }] })),
  id.map((q) => ({ findAndModify: 'a', query: { _id: q }, update: { $push: { l: q } }, new: q % 2 === 0 })),
  fc.constantFrom({ drop: 'a' }, { createIndexes: 'a', indexes: [{ key: { v: 1 }, name: 'v_1' }] }),
)

t.test('a follower has the oplog, collections and retry history of its source, also after a restart', async () => {
  await check(
    fc.asyncProperty(
      fc.array(fc.tuple(command, fc.boolean()), { minLength: 1, maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 300, max: 5000 }),
      async (commands, batches, checkpointAfterBytes) => {
        const source = new NodeUnderTest({ oplogSizeBytes: 1e9 })
        await source.node.flush()
        const { engine, retries, oplog } = source.node
        const follower = new Follower(new FakeDisk(), checkpointAfterBytes)
        let batch = 0
        let position = oplog.window().start
        const feed = async (): Promise<void> => {
          for (;;) {
            const entries = oplog.window().bytesAt(position, batches[batch++ % batches.length]!)
            if (entries.length === 0) return
            const last = follower.log.applyReplicated(entries)!
            await follower.log.flush()
            position += entries.length
            if (follower.log.oplog.entriesAfter(last.optime, 1).outcome !== 'entries') throw new Error('no last entry')
          }
        }
        for (const [n, [each, isRetryable]] of commands.entries()) {
          const ends = isRetryable ? { lsid: session(n), txnNumber: long(n) } : {}
          await source.run({ ...each, ...ends })
          if (n % 4 === 3) await feed()
        }
        await feed()
        const entries = Buffer.concat(oplog.window().parts()).toString('hex')
        for (const each of [follower, follower.restarted()]) {
          if (oplogOf(each.log) !== entries) throw new Error('another oplog')
          if (stateOf(each) !== stateOf({ engine, retries })) throw new Error('another state')
          if (each.clock.time.join() !== oplog.last!.optime.ts.join()) throw new Error('another time')
        }
      },
    ),
    60,
  )
})

t.test('an empty follower starts from an image and continues with the entries after it', async (t) => {
  const source = new Follower(new FakeDisk(), 1e6)
  const node = new NodeUnderTest({ oplogSizeBytes: 1e9 })
  await node.ok({ insert: 'a', documents: [{ _id: 1 }], lsid: session(1), txnNumber: long(1) })
  const { oplog } = node.node
  source.log.applyReplicated(oplog.window().bytesAt(0, 1e9))
  await source.log.flush()
  const first = source.log.oplog.last!
  // Not on the disk of the source yet.
  await node.ok({ insert: 'a', documents: [{ _id: 2 }], lsid: session(1), txnNumber: long(2) })
  source.log.applyReplicated(entriesAfter(oplog, first))
  const image = source.log.snapshotForInitialSync(first.optime)
  const last = source.log.lastApplied
  t.same(last, oplog.last)
  const follower = new Follower(new FakeDisk(), 1e6)
  follower.log.restoreFrom(image)
  await follower.log.rewriteDisk()
  t.same(follower.log.lastApplied, last)
  t.same(follower.log.oplog.first, first, 'its oplog begins with the newest entry that a majority has')
  await source.log.flush()
  await node.ok({ insert: 'a', documents: [{ _id: 3 }] })
  follower.log.applyReplicated(entriesAfter(oplog, last))
  source.log.applyReplicated(entriesAfter(oplog, last))
  await follower.log.flush()
  t.equal(stateOf(follower), stateOf(source))
  t.equal(stateOf(follower.restarted()), stateOf(source))
  t.ok(follower.restarted().log.oplog.contains(last!.optime))
})

t.test('entries before one that cannot be applied are in the log', async (t) => {
  const node = new NodeUnderTest({ oplogSizeBytes: 1e9 })
  await node.ok({ insert: 'a', documents: [{ _id: 1 }] })
  const entries = [...node.node.oplog.window().entries()].map(([, bytes]) => bytes)
  const follower = new Follower(new FakeDisk(), 1e6)
  const seen: string[] = []
  t.throws(() => follower.log.applyReplicated(Buffer.concat([...entries, entries.at(-1)!]), ({ op }) => seen.push(op)))
  t.same(seen, ['n', 'n', 'c', 'i'])
  await follower.log.flush()
  t.same(follower.restarted().engine.collection('test.a')!.count, 1)
})

function entriesAfter(oplog: NodeLog['oplog'], last: NodeLog['lastApplied']): Uint8Array {
  const answer = oplog.entriesAfter(last!.optime, 1e9)
  if (answer.outcome !== 'entries') throw new Error(answer.outcome)
  return answer.entries
}
