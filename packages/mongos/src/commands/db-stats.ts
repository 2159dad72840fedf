import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { dbStatsSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields } from '../remote/command-reply.js'
import { askAll } from '../reads/ask-all.js'
import { configCommand } from '../routing/primary.js'

export const dbStats: CommandRow<MongosInvocation> = {
  ...dbStatsSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D701'],
  summary: 'Sums the sizes of a database over all shards.',
  async run(invocation) {
    const { args, db, host, operation } = invocation
    const { behaviours } = host
    const scale = Math.trunc(args.number('scale') ?? 1)
    if (!(scale > 0)) throw new CommandError('BadValue', 'Scale must be greater than zero')
    const answers = await askAll(invocation, await host.shards.ids(operation), () => configCommand(invocation))
    const writer = new DocumentWriter(1024).startDocument('raw')
    for (const [member, reply] of answers)
      copyReplyFields(writer.startDocument(host.shards.connectionString(member)), reply)
        .double('ok', 1)
        .end()
    writer.end()
    if (!behaviours.dbStatsSumsExtents) writer.string('db', db)
    const sum = (name: string) =>
      answers.reduce((total, [, reply]) => total + (findField(reply, name)?.asNumber() ?? 0), 0)
    const objects = sum('objects')
    const bytes = answers.reduce(
      (total, [, reply]) =>
        total + (findField(reply, 'avgObjSize')?.asNumber() ?? 0) * (findField(reply, 'objects')?.asNumber() ?? 0),
      0,
    )
    if (behaviours.dbStatsSumsExtents) return writeWithExtents(writer, objects, bytes, sum)
    for (const [name, value] of [
      ['collections', sum('collections')],
      ['views', sum('views')],
      ['objects', objects],
    ] as const)
      writer.integer(name, value)
    writer
      .double('avgObjSize', objects === 0 ? 0 : bytes / objects)
      .double('dataSize', sum('dataSize'))
      .double('storageSize', sum('storageSize'))
      .double('totalSize', sum('totalSize'))
    writer.integer('indexes', sum('indexes')).double('indexSize', sum('indexSize'))
    return writer.integer('scaleFactor', scale).double('fsUsedSize', 0).double('fsTotalSize', 0)
  },
}

/** The fields of MMAPv1 are zero for other storage engines. */
function writeWithExtents(
  writer: DocumentWriter,
  objects: number,
  bytes: number,
  sum: (name: string) => number,
): DocumentWriter {
  writer.integer('objects', objects).double('avgObjSize', objects === 0 ? 0 : bytes / objects)
  for (const name of ['dataSize', 'storageSize', 'numExtents', 'indexes', 'indexSize', 'fileSize'])
    writer.integer(name, Math.trunc(sum(name)))
  return writer.startDocument('extentFreeList').int32('num', 0).int32('totalSize', 0).end()
}
