import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { fsyncSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields } from '../remote/command-reply.js'
import { askAll } from '../reads/ask-all.js'
import { configCommand } from '../routing/primary.js'

/** Server: cluster_fsync_cmd.cpp. */
export const fsync: CommandRow<MongosInvocation> = {
  ...fsyncSpec,
  routing: 'all-shards',
  status: 'partial',
  missing: 'lock, and so there is no fsyncUnlock',
  summary: 'Waits until all writes of the shards are on their disks.',
  async run(invocation) {
    const { args, host, operation } = invocation
    if (args.bool('lock') === true) throw new CommandError('InvalidOptions', 'lock is not supported in fsync')
    const answers = await askAll(invocation, await host.shards.ids(operation), () => configCommand(invocation))
    const files = answers.reduce((sum, [, reply]) => sum + (findField(reply, 'numFiles')?.asNumber() ?? 0), 0)
    const writer = new DocumentWriter(512).int32('numFiles', files).startDocument('all')
    for (const [member, reply] of answers) copyReplyFields(writer.startDocument(member), reply).double('ok', 1).end()
    return writer.end()
  },
}
