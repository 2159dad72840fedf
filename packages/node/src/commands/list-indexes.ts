import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import type { Collection, Index } from '@shardlab/storage'
import { batchSizeOf, listSource, listIndexesSpec } from '@shardlab/member'
import { writeFirstListBatch } from '../cursors/cursor-reply.js'
import { refuseView } from '../views/refuse-view.js'
import type { CollectionReader, NodeInvocation } from '../host/node-host.js'

export const listIndexes: CommandRow<NodeInvocation> = {
  ...listIndexesSpec,
  routing: 'primary-shard',
  status: 'full',
  summary: 'Lists the indexes of a collection.',
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    const collection = host.readable(ns)
    if (collection === undefined) {
      refuseView(host, ns)
      throw new CommandError('NamespaceNotFound', `ns does not exist: ${ns}`)
    }
    const withBuildInfo = args.bool('includeIndexBuildInfo') === true
    if (withBuildInfo && args.bool('includeBuildUUIDs') === true) {
      throw new CommandError(
        'InvalidOptions',
        'The includeBuildUUIDs flag and includeBuildIndexInfo flag cannot both be set to true',
      )
    }
    // Index builds are never listed: a build completes within one turn.
    const specs = collection
      .indexes()
      .map((index) => listedSpec(collection, index))
      .map((spec) => withNamespace(host, ns, spec))
      .map((spec) => (withBuildInfo ? new DocumentWriter(128).document('spec', spec).finish() : spec))
    const batchSize = batchSizeOf(args) ?? Number.POSITIVE_INFINITY
    return writeFirstListBatch(invocation, ns, listSource(specs), {
      batchSize,
      singleBatch: false,
      noTimeout: false,
    })
  },
}

/**
 * The `_id` index of a clustered collection is listed with the collection's expireAfterSeconds,
 * before `clustered`. Server: formatClusterKeyForListIndexes.
 */
function listedSpec({ options }: Collection, { spec }: Index): Uint8Array {
  const seconds = findField(options, 'expireAfterSeconds')
  if (seconds === undefined || findField(spec, 'clustered') === undefined) return spec
  const writer = new DocumentWriter(spec.length + 32)
  for (const it = new FieldIterator(spec); it.next();) {
    if (it.name() === 'clustered') writer.value('expireAfterSeconds', seconds)
    writer.value(it.name(), it.value())
  }
  return writer.finish()
}

/** The specification as the emulated version lists it. */
export function withNamespace({ behaviours }: CollectionReader, ns: string, spec: Uint8Array): Uint8Array {
  return behaviours.indexSpecsHaveNamespace
    ? new DocumentWriter(spec.length + ns.length + 16).fields(spec).string('ns', ns).finish()
    : spec
}
