/**
 * Acts on the emulated cluster as a whole, for clients in any language. Servers have no such
 * command.
 */
import { Cancellation, clusterAddress, isGenericArgument, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import { suggestion } from '@shardlab/quantities'
import { explainBalance } from '../admin/explain-balance.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { withDeadline } from '../remote/with-deadline.js'

interface Verb {
  readonly fields: readonly string[]
  readonly run: (invocation: MongosInvocation, verb: string) => Promise<DocumentWriter>
}

const verbs: Readonly<Record<string, Verb>> = {
  apply: { fields: ['fault'], run: askCluster },
  list: { fields: [], run: askCluster },
  heal: { fields: ['id'], run: askCluster },
  reached: { fields: ['id'], run: askCluster },
  snapshot: { fields: [], run: askCluster },
  restore: { fields: ['id'], run: askCluster },
  fork: { fields: ['id', 'port', 'host'], run: askCluster },
  copies: { fields: [], run: askCluster },
  discard: { fields: ['id'], run: askCluster },
  explainBalance: { fields: ['ns'], run: explainBalance },
}

/**
 * `{ shardlab: verb, … }` on admin.
 *
 * - `apply` takes `fault`, a text or a document; `heal` takes `id`, without which it heals all
 *   faults; `reached` takes `id` and waits until a member reaches the step of the fault.
 * - `restore` takes the `id` of a snapshot; so may `fork`, with `port` and `host`; `discard` takes
 *   the `id` of a snapshot or a fork.
 */
export const shardlab: CommandRow<MongosInvocation> = {
  name: 'shardlab',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command',
  status: 'full',
  summary:
    'Applies, lists and heals faults (apply, list, heal) and waits for them (reached), copies the cluster (snapshot, restore, fork, copies, discard), and explains why a collection is balanced or not (explainBalance).',
  run(invocation) {
    const verb = invocation.args.targetString()
    const known = Object.hasOwn(verbs, verb) ? verbs[verb]! : null
    if (known === null)
      throw new CommandError(
        'BadValue',
        `shardlab: unknown verb ${verb}; ${suggestion(verb, Object.keys(verbs)) ?? `use one of ${Object.keys(verbs).join(', ')}.`}`,
      )
    refuseUnknown(invocation.body, verb, known.fields)
    return known.run(invocation, verb)
  },
}

/**
 * Without this check, `{ shardlab: 'apply', fault: 'crash shard02', for: '5s' }` would crash the
 * shard without end.
 * @throws CommandError 2 BadValue
 */
function refuseUnknown(body: Uint8Array, verb: string, fields: readonly string[]): void {
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

/** The supervisor of the cluster replies. */
async function askCluster({ host, body, operation }: MongosInvocation, verb: string): Promise<DocumentWriter> {
  // A cluster is not copied while a member waits for a reply, so none may be left.
  const ended = new Cancellation()
  const asked = host.context.request(clusterAddress, 'cluster.command', { verb, body }, { signal: ended.signal })
  // When the deadline has passed already, the reply is not awaited.
  asked.catch(() => {})
  try {
    const { reply, error } = await withDeadline(host.context, operation, asked)
    raise(error)
    const writer = new DocumentWriter(reply.length + 168)
    for (const it = new FieldIterator(reply); it.next();) writer.value(it.name(), it.value())
    return writer
  } finally {
    ended.abort()
  }
}
