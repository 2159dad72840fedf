/**
 * Acts on the emulated cluster as a whole, for clients in any language. Servers have no such
 * command.
 */
import { clusterAddress, isGenericArgument, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import { suggestion } from '@shardlab/quantities'
import { explainBalance } from '../admin/explain-balance.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'

interface Verb {
  /** Null: no argument. */
  readonly field: string | null
  readonly run: (invocation: MongosInvocation, verb: string) => Promise<DocumentWriter>
}

const verbs: Readonly<Record<string, Verb>> = {
  apply: { field: 'fault', run: askCluster },
  list: { field: null, run: askCluster },
  heal: { field: 'id', run: askCluster },
  explainBalance: { field: 'ns', run: explainBalance },
}

/**
 * `{ shardlab: verb, … }` on admin. `apply` takes `fault`, a text or a document; `heal` takes `id`,
 * without which it heals all faults.
 */
export const shardlab: CommandRow<MongosInvocation> = {
  name: 'shardlab',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command',
  status: 'full',
  summary:
    'Applies, lists and heals faults (apply, list, heal), and explains why a collection is balanced or not (explainBalance).',
  run(invocation) {
    const verb = invocation.args.targetString()
    const known = Object.hasOwn(verbs, verb) ? verbs[verb]! : null
    if (known === null)
      throw new CommandError(
        'BadValue',
        `shardlab: unknown verb ${verb}; ${suggestion(verb, Object.keys(verbs)) ?? `use one of ${Object.keys(verbs).join(', ')}.`}`,
      )
    refuseUnknown(invocation.body, verb, known.field)
    return known.run(invocation, verb)
  },
}

/**
 * Without this check, `{ shardlab: 'apply', fault: 'crash shard02', for: '5s' }` would crash the
 * shard without end.
 * @throws CommandError 2 BadValue
 */
function refuseUnknown(body: Uint8Array, verb: string, field: string | null): void {
  const it = new FieldIterator(body)
  it.next()
  while (it.next()) {
    const name = it.name()
    if (name !== field && !isGenericArgument(name))
      throw new CommandError(
        'BadValue',
        `shardlab ${verb}: unknown field ${name}; ${field === null ? 'the verb has no fields.' : `the only field is ${field}.`}`,
      )
  }
}

/** The supervisor of the cluster replies. */
async function askCluster({ host, body, operation }: MongosInvocation, verb: string): Promise<DocumentWriter> {
  const { reply, error } = await operation.interruptible(
    host.context.request(clusterAddress, 'cluster.faults', { verb, body }),
  )
  raise(error)
  const writer = new DocumentWriter(reply.length + 168)
  for (const it = new FieldIterator(reply); it.next();) writer.value(it.name(), it.value())
  return writer
}
