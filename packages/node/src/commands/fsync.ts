import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { fsyncSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

/** Server: fsync.cpp. */
export const fsync: CommandRow<NodeInvocation> = {
  ...fsyncSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D722'],
  summary: 'Waits until all earlier writes are on the disk; with lock, blocks writes so that files can be copied.',
  async run({ args, host }) {
    if (args.bool('lock') !== true) {
      await host.flush()
      return new DocumentWriter(128).int32('numFiles', 1)
    }
    if (!host.behaviours.fsyncUnlockCommand) throw new CommandError('InvalidOptions', 'lock is not supported in fsync')
    const lockCount = await host.writeLock.lock()
    return new DocumentWriter(256)
      .string('info', 'now locked against writes, use db.fsyncUnlock() to unlock')
      .int64('lockCount', lockCount)
      .string('seeAlso', 'http://dochub.mongodb.org/core/fsynccommand')
  },
}
