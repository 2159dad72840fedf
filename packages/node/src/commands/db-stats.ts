import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { dbStatsSpec } from '@shardlab/member'
import { sizesOf } from '../statistics/collection-sizes.js'
import { indexBytes } from '../statistics/storage-stats.js'
import { collectionsAndOplog } from '../log/oplog-collection.js'
import type { NodeInvocation } from '../host/node-host.js'

export const dbStats: CommandRow<NodeInvocation> = {
  ...dbStatsSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D701'],
  summary: 'Sums the sizes of the collections of a database.',
  run({ args, db, host }) {
    const scale = Math.trunc(args.number('scale') ?? 1)
    if (!(scale > 0 && scale <= 2 ** 50))
      throw new CommandError('BadValue', 'Scale factor must be greater than zero and less than or equal to 2^50')
    const { behaviours } = host
    const collections = collectionsAndOplog(host, db)
    const sum = (of: (collection: (typeof collections)[number]) => number) =>
      collections.reduce((total, each) => total + of(each), 0)
    const objects = sum((collection) => sizesOf(host, collection).count)
    const dataBytes = sum((collection) => sizesOf(host, collection).dataSizeBytes)
    const indexSize = sum(indexBytes)
    const views = host.collection(`${db}.system.views`)?.count ?? 0
    const writer = new DocumentWriter(512)
      .string('db', db)
      .int64('collections', collections.length)
      .int64('views', views)
      .int64('objects', objects)
      .double('avgObjSize', objects === 0 ? 0 : dataBytes / objects)
      .double('dataSize', dataBytes / scale)
      .double('storageSize', dataBytes / scale)
      .int64(
        'indexes',
        sum((collection) => collection.indexes().length),
      )
      .double('indexSize', indexSize / scale)
    if (behaviours.statisticsHaveTotals) writer.double('totalSize', (dataBytes + indexSize) / scale)
    if (args.bool('freeStorage') === true)
      writer.double('freeStorageSize', 0).double('indexFreeStorageSize', 0).double('totalFreeStorageSize', 0)
    return behaviours.statisticsHaveTotals ? writer.int64('scaleFactor', scale) : writer
  },
}
