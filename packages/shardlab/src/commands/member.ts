import { replyFrom } from '../admin-client.js'
import type { MemberAction, MemberOptions } from './member-options.js'

/** @throws ConnectError */
export async function member(action: MemberAction, name: string, { uri, json }: MemberOptions): Promise<void> {
  const command = action === 'add' ? { shardlab: 'addMember', set: name } : { shardlab: 'removeMember', member: name }
  const reply = await replyFrom(uri, command)
  if (json === true) process.stdout.write(`${JSON.stringify(reply)}\n`)
  else if (action === 'remove') process.stdout.write(`Removed ${reply['removed']}\n`)
  else
    process.stdout.write(
      `Started ${reply['id']}  ${reply['uri']}\nRun rs.add('${reply['host']}') on the primary of ${name}.\n`,
    )
}
