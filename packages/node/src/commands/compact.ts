import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, noCode } from '@shardlab/bson'
import { compactSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { viewOf } from '../views/view-catalog.js'

/** Server: compact.cpp, compact_collection.cpp. */
export const compact: CommandRow<NodeInvocation> = {
  ...compactSpec,
  routing: 'local',
  status: 'full',
  summary: 'Frees no bytes, because collections have no free space (D701). A primary needs force.',
  run({ host, args, db }) {
    const ns = `${db}.${args.collectionName(db)}`
    const { compactBlocks } = host.behaviours
    if (host.isPrimary && !host.isStandalone && args.bool('force') !== true)
      throw new CommandError(
        compactBlocks ? noCode : 'IllegalOperation',
        `will not run compact on an active replica set primary as this ${compactBlocks ? 'is a slow blocking operation' : 'will slow down other running operations'}. use force:true to force`,
      )
    if (host.collection(ns) === undefined)
      throw viewOf(host, ns) === null
        ? new CommandError('NamespaceNotFound', 'collection does not exist')
        : new CommandError('CommandNotSupportedOnView', "can't compact a view")
    const writer = new DocumentWriter(256)
    return compactBlocks ? writer : writer.int32('bytesFreed', 0)
  },
}
