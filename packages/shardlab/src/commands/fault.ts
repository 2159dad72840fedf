import { counted } from '@shardlab/quantities'
import { randomUUID } from 'node:crypto'
import type { Document } from '@shardlab/bson'
import { replyFrom } from '../admin-client.js'
import { ConnectError } from '../connect-error.js'
import type { FaultOptions } from './fault-options.js'

interface ListedFault {
  readonly id: string
  readonly fault: string
  readonly state: string
  readonly members: readonly string[]
  readonly beginsAt: Date
  readonly healsAt: Date | null
  readonly strikes: number | null
}

/** @throws ConnectError */
export async function fault(text: string | undefined, options: FaultOptions): Promise<void> {
  // A step may be reached after any time.
  const timeoutMs = options.reached === undefined ? undefined : 0
  const reply = await replyFrom(options.uri, commandOf(text, options), timeoutMs)
  process.stdout.write(options.json === true ? `${JSON.stringify(reply)}\n` : textOf(reply))
}

function commandOf(text: string | undefined, { list, heal, reached }: FaultOptions): Document {
  const asked = [text !== undefined, list === true, heal !== undefined, reached !== undefined].filter(Boolean).length
  if (asked !== 1)
    throw new ConnectError("give one of these: a fault such as 'crash shard02 for 5s', --list, --heal, or --reached.")
  if (text !== undefined) return { shardlab: 'apply', fault: text, requestId: randomUUID() }
  if (reached !== undefined) return { shardlab: 'reached', id: reached }
  if (heal === undefined) return { shardlab: 'list' }
  if (heal === true) return { shardlab: 'heal' }
  return { shardlab: 'heal', id: heal }
}

function textOf(reply: Document): string {
  if (reply['id'] !== undefined) return `Fault ${reply['id']}\n`
  if (reply['step'] !== undefined) return `${reply['member']} has reached ${reply['step']}\n`
  if (reply['healed'] !== undefined) {
    const healed = reply['healed'] as string[]
    return healed.length === 0 ? 'There were no faults.\n' : `Healed ${healed.join(', ')}\n`
  }
  const faults = reply['faults'] as ListedFault[]
  return faults.length === 0 ? 'There are no faults.\n' : faults.map((listed) => `${lineOf(listed)}\n`).join('')
}

function lineOf({ id, fault, state, members, beginsAt, healsAt, strikes }: ListedFault): string {
  const parts = [`${id}  ${fault}`]
  // Of a fault that names them otherwise.
  if (members.some((member) => !fault.split(' ').includes(member))) parts.push(`on ${members.join(' and ')}`)
  if (state === 'waiting') parts.push('waits for a member that fits')
  else parts.push(`${state === 'scheduled' ? 'begins' : 'since'} ${beginsAt.toISOString()}`)
  if (healsAt !== null) parts.push(`heals itself ${healsAt.toISOString()}`)
  if (strikes !== null) parts.push(`struck ${counted(strikes, 'time')}${state === 'exhausted' ? ', exhausted' : ''}`)
  return parts.join(', ')
}
