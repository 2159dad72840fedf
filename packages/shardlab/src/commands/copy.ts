import type { Document } from '@shardlab/bson'
import { replyFrom } from '../admin-client.js'
import { ConnectError } from '../connect-error.js'
import type { CopyAction, CopyOptions } from './copy-options.js'

interface ListedSnapshot {
  readonly id: string
  readonly takenAt: Date
}

/** @throws ConnectError */
export async function copy(
  action: CopyAction,
  id: string | undefined,
  { uri, port, host, json }: CopyOptions,
): Promise<void> {
  const reply = await replyFrom(uri, commandOf(action, id, { port, host }))
  process.stdout.write(json === true ? `${JSON.stringify(reply)}\n` : textOf(action, reply))
}

function commandOf(action: CopyAction, id: string | undefined, listen: object): Document {
  if ((action === 'restore' || action === 'discard') && id === undefined)
    throw new ConnectError(`${action} needs an id: copy list shows them.`)
  if ((action === 'snapshot' || action === 'list') && id !== undefined)
    throw new ConnectError(`${action} takes no id: remove ${id}.`)
  const given = Object.entries({ id, ...listen }).filter(([, value]) => value !== undefined)
  const misplaced = given.find(([name]) => name !== 'id' && action !== 'fork')
  if (misplaced !== undefined) throw new ConnectError(`${action} takes no --${misplaced[0]}: remove it.`)
  return { shardlab: action === 'list' ? 'copies' : action, ...Object.fromEntries(given) }
}

function textOf(action: CopyAction, reply: Document): string {
  switch (action) {
    case 'snapshot':
      return `Snapshot ${reply['id']}\n`
    case 'restore':
      return `Restored ${reply['restored']}\n`
    case 'fork':
      return `Fork ${reply['id']}  ${reply['uri']}\n`
    case 'discard':
      return `Discarded ${reply['discarded']}\n`
    case 'list':
      return listText(reply)
  }
}

function listText(reply: Document): string {
  const snapshots = (reply['snapshots'] as ListedSnapshot[]).map(
    ({ id, takenAt }) => `${id}  snapshot of ${takenAt.toISOString()}\n`,
  )
  const forks = (reply['forks'] as { id: string; uri: string }[]).map(({ id, uri }) => `${id}  fork at ${uri}\n`)
  return [...snapshots, ...forks].join('') || 'There are no snapshots and no forks.\n'
}
