import { configAddress, unversioned, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { fsyncSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields } from '../remote/command-reply.js'
import { askAll } from '../reads/ask-all.js'
import { configCommand } from '../routing/primary.js'
import { writeRaw } from '../routing/raw-replies.js'
import { scatter, type MemberAnswer } from '../routing/scatter.js'

/** Server: cluster_fsync_cmd.cpp. */
export const fsync: CommandRow<MongosInvocation> = {
  ...fsyncSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D722'],
  summary: 'Waits until all writes of the shards are on their disks; with lock, blocks writes of the cluster.',
  async run(invocation) {
    const { args, host, operation } = invocation
    const locks = args.bool('lock') === true
    if (host.behaviours.fsyncLockOnRouters) return fsyncAll(invocation, locks)
    if (locks) throw new CommandError('CommandFailed', "can't do lock through mongos")
    const answers = await askAll(invocation, await host.shards.ids(operation), () => configCommand(invocation))
    const files = answers.reduce((sum, [, reply]) => sum + (findField(reply, 'numFiles')?.asNumber() ?? 0), 0)
    const writer = new DocumentWriter(512).int32('numFiles', files).startDocument('all')
    for (const [member, reply] of answers) copyReplyFields(writer.startDocument(member), reply).double('ok', 1).end()
    return writer.end()
  },
}

async function fsyncAll(invocation: MongosInvocation, locks: boolean): Promise<DocumentWriter> {
  const members = await membersWithData(invocation)
  // Members count locks, so one whose answer is lost must not be asked again.
  const answers = await scatter(invocation, members, () => configCommand(invocation), !locks)
  // All are locked, or none is: also a member that has not answered may be locked.
  if (locks && answers.some(({ error }) => error !== null)) await unlockAll(invocation, members)
  const raw = writeRaw(invocation, answers).finish()
  return new DocumentWriter(raw.length + 64).int32('numFiles', 1).document('all', raw)
}

/** The shards and the config server. */
export async function membersWithData({ host, operation }: MongosInvocation): Promise<string[]> {
  return [configAddress, ...(await host.shards.ids(operation))]
}

const unlock = new DocumentWriter(32).int32('fsyncUnlock', 1).finish()

/** In the order of the members. */
export function unlockAll(invocation: MongosInvocation, members: readonly string[]): Promise<MemberAnswer[]> {
  return scatter(invocation, members, () => unversioned('admin', unlock, []), false)
}
