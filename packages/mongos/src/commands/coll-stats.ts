import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import { collStatsSpec, writeEmptyStorageStats } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { Behaviours } from '@shardlab/sharding'
import { askAll } from '../reads/ask-all.js'
import { owningMembers } from '../routing/owning-members.js'
import { routedCommand, soleMember, type Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'

export const collStats: CommandRow<MongosInvocation> = {
  ...collStatsSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D701'],
  summary: 'Adds up the statistics of a collection on its shards.',
  run(invocation) {
    const { args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    return withRoute(invocation, ns, false, (route) => statsOn(invocation, ns, route))
  },
}

async function statsOn(invocation: MongosInvocation, ns: string, route: Route): Promise<DocumentWriter> {
  const scale = scaleOf(invocation.args.value('scale'))
  const writer = new DocumentWriter(2048).bool('sharded', route.kind === 'sharded')
  if (route.kind === 'missing')
    return writeEmptyStorageStats(writer.string('ns', ns), invocation.host.behaviours, scale)
  if (route.kind !== 'sharded')
    writer.string('primary', route.kind === 'unsharded' ? route.database.primaryShard : soleMember(route))
  const body = unscaledBody(invocation.body)
  const members = owningMembers(route, invocation.db)
  const answers = await askAll(invocation, members, (member) => routedCommand(invocation, route, member, body))
  return writeSums(
    writer,
    ns,
    scale,
    invocation.host.behaviours,
    route.kind === 'sharded' ? route.placement.table.chunkCount : 1,
    answers,
  )
}

/** @throws CommandError 4390200, 4390201 */
function scaleOf(value: RawValue | undefined): number {
  if (value === undefined) return 1
  if (value.isNumber()) {
    const scale = Math.min(0x7fff_ffff, Math.trunc(value.asNumber()))
    if (!(scale >= 1)) throw new CommandError(4390200, 'scale has to be >= 1')
    return scale
  }
  if (!value.isNullish() && value.isTruthy()) throw new CommandError(4390201, 'scale has to be a number >= 1')
  return 1
}

/** Shards reply in bytes; the sums are scaled. */
function unscaledBody(body: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();) if (it.name() !== 'scale') writer.value(it.name(), it.value())
  return writer.finish()
}

/** The same on all shards. */
const copied: ReadonlySet<string> = new Set(['capped', 'max', 'indexDetails'])
const summed = ['count', 'size', 'storageSize', 'totalIndexSize', 'totalSize'] as const
const scaledFields: ReadonlySet<string> = new Set(['size', 'maxSize', 'storageSize', 'totalIndexSize', 'totalSize'])

function writeSums(
  writer: DocumentWriter,
  ns: string,
  scale: number,
  { statisticsHaveTotals }: Behaviours,
  chunkCount: number,
  answers: readonly (readonly [member: string, reply: Uint8Array])[],
): DocumentWriter {
  const number = (reply: Uint8Array, name: string) => findField(reply, name)?.asNumber() ?? 0
  const names = summed.filter((name) => name !== 'totalSize' || statisticsHaveTotals)
  const sums = new Map(
    names.map((name) => [name, answers.reduce((sum, [, reply]) => sum + number(reply, name), 0)] as const),
  )
  const first = answers[0]?.[1]
  if (first !== undefined)
    for (const it = new FieldIterator(first); it.next();) if (copied.has(it.name())) writer.value(it.name(), it.value())
  const indexCounts = answers.map(([, reply]) => number(reply, 'nindexes'))
  if (new Set(indexCounts).size > 1) writer.string('warning', "indexes don't all match - ok if ensureIndex is running")
  writer.string('ns', ns)
  for (const [name, sum] of sums) writer.integer(name, scaledFields.has(name) ? Math.floor(sum / scale) : sum)
  writer.startDocument('indexSizes')
  for (const [name, bytes] of indexSizes(answers)) writer.integer(name, Math.floor(bytes / scale))
  const count = sums.get('count')!
  const bytes = answers.reduce((sum, [, reply]) => sum + number(reply, 'avgObjSize') * number(reply, 'count'), 0)
  writer
    .end()
    .double('avgObjSize', count === 0 ? 0 : bytes / count)
    .int64('maxSize', Math.floor(Math.max(0, ...answers.map(([, reply]) => number(reply, 'maxSize'))) / scale))
    .int32('nindexes', Math.max(0, ...indexCounts))
  if (statisticsHaveTotals) writer.int32('scaleFactor', scale)
  writer.int32('nchunks', chunkCount).startDocument('shards')
  for (const [member, reply] of answers) writeScaled(writer.startDocument(member), reply, scale).end()
  return writer.end()
}

function indexSizes(
  answers: readonly (readonly [member: string, reply: Uint8Array])[],
): [name: string, bytes: number][] {
  const sizes = new Map<string, number>()
  for (const [, reply] of answers) {
    const field = findField(reply, 'indexSizes')
    if (field === undefined) continue
    for (const it = new FieldIterator(field.bytes, field.start); it.next();)
      sizes.set(it.name(), (sizes.get(it.name()) ?? 0) + it.value().asNumber())
  }
  return [...sizes].sort(([a], [b]) => (a < b ? -1 : 1))
}

function writeScaled(writer: DocumentWriter, reply: Uint8Array, scale: number): DocumentWriter {
  for (const it = new FieldIterator(reply); it.next();) {
    const name = it.name()
    const value = it.value()
    if (scaledFields.has(name)) writer.integer(name, Math.floor(value.asNumber() / scale))
    else if (name === 'scaleFactor') writer.int32(name, scale)
    else if (name === 'indexSizes') {
      writer.startDocument(name)
      for (const sizes = new FieldIterator(value.bytes, value.start); sizes.next();)
        writer.integer(sizes.name(), Math.floor(sizes.value().asNumber() / scale))
      writer.end()
    } else writer.value(name, value)
  }
  return writer
}
