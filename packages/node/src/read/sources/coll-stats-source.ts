import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { listSource } from '@shardlab/member'
import { sizesOf } from '../../statistics/collection-sizes.js'
import { scaleOf, writeStorageStats } from '../../statistics/storage-stats.js'
import type { NodeStageSource } from './source.js'

interface CollStatsSpec {
  /** Null: not requested. */
  readonly latencyStats: { readonly histograms: boolean } | null
  readonly storageStats: { readonly scale: number } | null
  readonly count: boolean
}

/** Server: document_source_coll_stats.cpp. */
export const collStatsSource: NodeStageSource = {
  name: '$collStats',
  open({ invocation: { host, routed }, ns, argument }) {
    const spec = parse(argument)
    const collection = host.readable(ns)
    const writer = new DocumentWriter(1024).string('ns', ns)
    if (routed !== null) writer.string('shard', host.role.memberName)
    writer.string('host', host.context.endpoint).date('localTime', host.context.now())
    if (spec.latencyStats !== null) {
      writer.startDocument('latencyStats')
      host.statistics.usage.latenciesOf(ns).write(writer, spec.latencyStats.histograms).end()
    }
    if (spec.storageStats !== null) {
      if (collection === undefined)
        throw new CommandError(
          'NamespaceNotFound',
          `Unable to retrieve storageStats in $collStats stage :: caused by :: Collection [${ns}] not found.`,
        )
      writer.startDocument('storageStats')
      writeStorageStats(writer, collection, host, spec.storageStats.scale).end()
    }
    if (spec.count) {
      if (collection === undefined)
        throw new CommandError(
          'NamespaceNotFound',
          `Unable to retrieve count in $collStats stage :: caused by :: Collection [${ns}] not found.`,
        )
      writer.integer('count', sizesOf(host, collection).count)
    }
    return listSource([writer.finish()])
  },
}

function parse(argument: RawValue): CollStatsSpec {
  const spec: { -readonly [K in keyof CollStatsSpec]: CollStatsSpec[K] } = {
    latencyStats: null,
    storageStats: null,
    count: false,
  }
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (name !== 'latencyStats' && name !== 'storageStats' && name !== 'count')
      throw new CommandError(40415, `BSON field '$collStats.${name}' is an unknown field.`)
    if (it.type !== BsonType.object)
      throw new CommandError(
        'TypeMismatch',
        `BSON field '$collStats.${name}' is the wrong type '${typeName(it.type)}', expected type 'object'`,
      )
    const value = it.value()
    if (name === 'latencyStats')
      spec.latencyStats = { histograms: findField(value.bytes, 'histograms', value.start)?.isTruthy() ?? false }
    else if (name === 'storageStats')
      spec.storageStats = { scale: scaleOf(findField(value.bytes, 'scale', value.start)) }
    else spec.count = true
  }
  return spec
}
