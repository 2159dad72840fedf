/** Manual: reference/explain-results, sharded collections. Server: cluster_explain.cpp. */
import { DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { RouterStage } from './explained.js'

export type ShardExplain = readonly [shard: string, reply: Uint8Array]

/**
 * @param name another name of the document
 * @param below writes the stages below the router's, after the shards
 */
export function writePlanners(
  writer: DocumentWriter,
  { host }: MongosInvocation,
  stage: RouterStage,
  shards: readonly ShardExplain[],
  { name = 'queryPlanner', below = () => {} }: { name?: string; below?: () => void } = {},
): DocumentWriter {
  const versionedShards = host.behaviours.explainHasQueryShapeHash
  writer.startDocument(name)
  if (!versionedShards) writer.int32('mongosPlannerVersion', 1)
  writer.startDocument('winningPlan').string('stage', stage).startArray('shards')
  shards.forEach(([shard, reply], i) => {
    writer.startDocument(String(i))
    if (versionedShards) writer.value('explainVersion', findField(reply, 'explainVersion')!)
    writer.string('shardName', shard).string('connectionString', host.shards.connectionString(shard))
    writer.value('serverInfo', findField(reply, 'serverInfo')!)
    appendFields(writer, findField(reply, 'queryPlanner')!)
    writer.end()
  })
  writer.end()
  below()
  return writer.end().end()
}

/**
 * Sums the shards' statistics; writes nothing when the shards sent none.
 * @param name another name of the document
 * @param below writes the last fields
 */
export function writeExecutions(
  writer: DocumentWriter,
  stage: RouterStage,
  shards: readonly ShardExplain[],
  durationMs: number,
  { name = 'executionStats', below = () => {} }: { name?: string; below?: () => void } = {},
): DocumentWriter {
  const all = shards.flatMap(([shard, reply]) => {
    const stats = findField(reply, 'executionStats')
    return stats === undefined ? [] : [{ shard, stats }]
  })
  if (all.length === 0) return writer
  const sum = (name: string): number =>
    all.reduce((total, { stats }) => total + (inside(stats, name)?.asNumber() ?? 0), 0)
  const counts = (): DocumentWriter =>
    writer
      .int32('nReturned', sum('nReturned'))
      .int32('executionTimeMillis', durationMs)
      .int32('totalKeysExamined', sum('totalKeysExamined'))
      .int32('totalDocsExamined', sum('totalDocsExamined'))
  writer.startDocument(name)
  counts()
  writer.startDocument('executionStages').string('stage', stage)
  counts().int64('totalChildMillis', sum('executionTimeMillis')).startArray('shards')
  all.forEach(({ shard, stats }, i) => {
    writer.startDocument(String(i)).string('shardName', shard)
    appendFields(writer, stats)
    writer.end()
  })
  writer.end().end()
  writePlansTried(writer, all)
  below()
  return writer.end()
}

function writePlansTried(
  writer: DocumentWriter,
  all: readonly { readonly shard: string; readonly stats: RawValue }[],
): void {
  if (inside(all[0]!.stats, 'allPlansExecution') === undefined) return
  writer.startArray('allPlansExecution')
  all.forEach(({ shard, stats }, i) => {
    writer
      .startDocument(String(i))
      .string('shardName', shard)
      .value('allPlans', inside(stats, 'allPlansExecution')!)
      .end()
  })
  writer.end()
}

export function writeShardPipelines(
  writer: DocumentWriter,
  { host }: MongosInvocation,
  shards: readonly ShardExplain[],
): DocumentWriter {
  writer.startDocument('shards')
  for (const [shard, reply] of shards) {
    writer.startDocument(shard).string('host', host.hostOf(shard))
    for (const name of ['explainVersion', 'stages', 'queryPlanner', 'executionStats']) {
      const value = findField(reply, name)
      if (value !== undefined) writer.value(name, value)
    }
    writer.end()
  }
  return writer.end()
}

function inside(value: RawValue, name: string): RawValue | undefined {
  return findField(value.bytes, name, value.start)
}

function appendFields(writer: DocumentWriter, value: RawValue): void {
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) writer.value(it.name(), it.value())
}
