/** `$changeStream` through a router. Server: cluster_aggregate.cpp, sharded_agg_helpers.cpp. */
import { configAddress, unversioned, type TimestampPair } from '@shardlab/actor'
import { DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import {
  checkConcernOfStream,
  collationOf,
  evaluationOf,
  namespaceOfAggregate,
  parseChangeStream,
  startingAt,
  tokenTime,
  withConstants,
} from '@shardlab/member'
import { compilePipeline } from '@shardlab/query'
import { bodyForMembers } from '../aggregation/aggregate-body.js'
import type { OpenStream } from '../aggregation/foreign-reads.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { openOptions } from '../reads/open-cursor.js'
import { ask, scatter } from '../routing/scatter.js'
import { ChangeStreamCursor } from './change-stream-cursor.js'
import { lookUpDocument } from './look-up-document.js'
import { StreamRemote } from './stream-remote.js'

/** @throws CommandError of the arguments and of the shards */
export async function openChangeStream(
  invocation: MongosInvocation,
  openAggregate: OpenStream,
): Promise<DocumentWriter> {
  const { args, db, host, concerns } = invocation
  const ns = namespaceOfAggregate(invocation)
  const evaluation = withConstants(evaluationOf(host, args, collationOf(args.document('collation'))), args)
  const target = args.target.isNumber() ? 'none' : 'collection'
  const pipeline = compilePipeline(args.pipeline()!, evaluation, { db, target })
  const { argument } = pipeline.source!
  const { stages: all } = pipeline
  const spec = parseChangeStream({ ns, argument, stages: all, behaviours: host.behaviours, onRouter: true })
  checkConcernOfStream(concerns.read.level)
  await host.shards.refresh(invocation.operation)
  const [seconds, increment] = host.clock.time
  const start = spec.start ?? startingAt([seconds, increment + 1], spec.tokenVersion)
  const looksUp = spec.fullDocument === 'updateLookup'
  const stages = looksUp ? [] : all.slice(1)
  const bodyFrom = (from: RawValue | null, time: TimestampPair) =>
    bodyForMembers(invocation, [streamStage(argument, from, time), ...stages], {
      ...{ merges: true, onShard: true, nowMs: evaluation.now(), wantsFragmentTokens: spec.splitsLargeEvents },
    })
  const body = bodyFrom(spec.start === null ? null : argument, start.clusterTime)
  const shards = host.shards.known
  const remotes = await openAll(invocation, shards, body)
  const joins = await openAll(invocation, [configAddress], joinsBody(invocation, start.clusterTime), 'config')
  const cursor = new ChangeStreamCursor({
    ns,
    start,
    remotes,
    joins: joins[0] ?? null,
    run: looksUp ? pipeline.open() : null,
    splitsHere: looksUp && spec.splitsLargeEvents,
    complete: looksUp ? (event, now) => lookUpDocument(event, now, openAggregate) : null,
    async openOn(shard, { hex }, now) {
      await host.shards.refresh(now.operation)
      const [joinedSeconds, joinedIncrement] = tokenTime(hex)
      const opened = await openAll(now, [shard], bodyFrom(null, [joinedSeconds, joinedIncrement + 1]))
      return opened[0] ?? null
    },
  })
  const id = host.cursors.open(
    openOptions(invocation, cursor, { noTimeout: false, batchSize: undefined, tailable: 'await-data' }),
  )
  return cursor.firstReply(id)
}

/** Opens all, or none. */
async function openAll(
  invocation: MongosInvocation,
  shards: readonly string[],
  body: Uint8Array,
  db = invocation.db,
): Promise<StreamRemote[]> {
  const command = unversioned(db, body)
  const [sole] = shards
  const answers =
    shards.length === 1
      ? [await ask(invocation, sole!, command, true)]
      : await scatter(invocation, shards, () => command, true)
  const remotes: StreamRemote[] = []
  for (const answer of answers)
    if (answer.error === null)
      remotes.push(
        new StreamRemote({ shard: answer.member, receiver: answer.receiver, body: new Uint8Array(answer.body) }),
      )
  const failed = answers.find(({ error }) => error !== null)
  if (failed === undefined) return remotes
  for (const remote of remotes) remote.kill(invocation.host)
  throw failed.error!
}

const startOptions: ReadonlySet<string> = new Set(['resumeAfter', 'startAfter', 'startAtOperationTime'])

/** @param from the client's argument, if it names the start; null: the stream starts at the time */
function streamStage(argument: RawValue, from: RawValue | null, time: TimestampPair): Uint8Array {
  const writer = new DocumentWriter(512).startDocument('$changeStream')
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();)
    if (from !== null || !startOptions.has(it.name())) writer.value(it.name(), it.value())
  if (from === null) writer.timestamp('startAtOperationTime', ...time)
  return writer.end().finish()
}

/** Shards that join the cluster are inserted into `config.shards`. */
function joinsBody({ session }: MongosInvocation, time: TimestampPair): Uint8Array {
  const writer = new DocumentWriter(512)
    .string('aggregate', 'shards')
    .startArray('pipeline')
    .startDocument('0')
    .startDocument('$changeStream')
    .bool('allowToRunOnConfigDB', true)
    .timestamp('startAtOperationTime', ...time)
    .end()
    .end()
    .startDocument('1')
    .startDocument('$match')
    .string('operationType', 'insert')
    .end()
    .end()
    .end()
    .startDocument('cursor')
    .int32('batchSize', 0)
    .end()
  if (session !== null) writer.document('lsid', session.document)
  return writer.string('$db', 'config').finish()
}
