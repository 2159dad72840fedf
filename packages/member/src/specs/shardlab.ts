/**
 * `{ shardlab: verb, … }` on admin acts on the emulated cluster as a whole, for clients in any
 * language. Servers have no such command.
 *
 * - `apply` takes `fault`, a text or a document, and replies with `id` and, unless the fault is
 *   over, with `beginsAt` and `healsAt`, which is null for a fault without an end. With a
 *   `requestId`, it may be repeated through another member: the fault can end the one that receives
 *   the command.
 * - `heal` takes `id`, without which it heals all faults; `reached` takes `id` and waits until a
 *   member reaches the step of the fault.
 * - `restore` takes the `id` of a snapshot; so may `fork`, with `port` and `host`; `discard` takes
 *   the `id` of a snapshot or a fork.
 * - `rollbackFiles` lists the files of rollbacks; `readRollbackFile` takes `member`, `path` and
 *   `offset`, and replies with the next bytes.
 * - `events` without fields opens a reader of the live stream; with `reader` and `after` it waits
 *   for deltas, at most `waitMs`; `close` ends the reader.
 * - `documents` takes `ns`, `filter` as Extended JSON and `limit`, and replies with documents of
 *   each shard, of which orphans are marked.
 * - `chunkSizes` takes `ns`, and replies with the documents and bytes of each chunk that has any,
 *   by shard.
 * - `addMember` takes `set` and starts one more member of it; `removeMember` takes `member` and
 *   forgets one that its set does not have any more.
 */
import { Cancellation, clusterAddress, isGenericArgument, type ActorContext } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import { suggestion } from '@shardlab/quantities'
import { commandErrorFrom } from '../replies/command-reply.js'
import type { CommandSpec } from './command-spec.js'
import { controlEmulation } from '../access/needs.js'

/** Fields of each verb. */
export type ClusterVerbs = Readonly<Record<string, readonly string[]>>

export const clusterVerbs: ClusterVerbs = {
  apply: ['fault', 'requestId'],
  list: [],
  heal: ['id'],
  reached: ['id'],
  snapshot: [],
  restore: ['id'],
  fork: ['id', 'port', 'host'],
  copies: [],
  discard: ['id'],
  rollbackFiles: [],
  readRollbackFile: ['member', 'path', 'offset'],
  events: ['reader', 'after', 'waitMs', 'close'],
  documents: ['ns', 'filter', 'limit'],
  chunkSizes: ['ns'],
  addMember: ['set'],
  removeMember: ['member'],
}

export const shardlabSpec = {
  name: 'shardlab',
  access: 'admin',
  privileges: controlEmulation,
  adminOnly: true,
  manual: 'reference/command',
} as const satisfies CommandSpec

export const clusterVerbsSummary =
  'Applies, lists and heals faults (apply, list, heal) and waits for them (reached), copies the cluster (snapshot, restore, fork, copies, discard), shows the files of rollbacks (rollbackFiles, readRollbackFile), reports state and changes of the cluster (events), shows documents and the sizes of chunks by shard (documents, chunkSizes), and adds and removes members of sets (addMember, removeMember).'

/**
 * Without this check, `{ shardlab: 'apply', fault: 'crash shard02', for: '5s' }` would crash the
 * shard without end.
 * @throws CommandError 2 BadValue for an unknown verb or field
 */
export function checkVerb(verb: string, body: Uint8Array, verbs: ClusterVerbs): void {
  const known = Object.keys(verbs)
  if (!known.includes(verb))
    throw new CommandError(
      'BadValue',
      `shardlab: unknown verb ${verb}; ${suggestion(verb, known) ?? `use one of ${known.join(', ')}.`}`,
    )
  const fields = verbs[verb]!
  const it = new FieldIterator(body)
  it.next()
  while (it.next()) {
    const name = it.name()
    if (fields.includes(name) || isGenericArgument(name)) continue
    throw new CommandError('BadValue', `shardlab ${verb}: unknown field ${name}; ${hint(name, fields)}`)
  }
}

function hint(name: string, fields: readonly string[]): string {
  if (fields.length === 0) return 'the verb has no fields.'
  return suggestion(name, fields) ?? `the fields are ${fields.join(', ')}.`
}

/**
 * The supervisor of the cluster replies.
 * @param wait ends with the operation of the client
 * @throws CommandError of the supervisor, and those of `wait`
 */
export async function askCluster(
  context: ActorContext,
  verb: string,
  body: Uint8Array,
  wait: <T>(asked: Promise<T>) => Promise<T>,
): Promise<DocumentWriter> {
  // A cluster is not copied while a member waits for a reply, so none may be left.
  const ended = new Cancellation()
  const asked = context.request(clusterAddress, 'cluster.command', { verb, body }, { signal: ended.signal })
  // When the deadline has passed already, the reply is not awaited.
  asked.catch(() => {})
  try {
    const { reply, error } = await wait(asked)
    if (error !== null) throw commandErrorFrom(error)
    const writer = new DocumentWriter(reply.length + 168)
    for (const it = new FieldIterator(reply); it.next();) writer.value(it.name(), it.value())
    return writer
  } finally {
    ended.abort()
  }
}
