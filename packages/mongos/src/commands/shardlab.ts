/** What a real server does not have: verbs about the cluster as a whole, for clients in any language. */
import { clusterAddress, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import { explainBalance } from '../command/explain-balance.js'
import type { MongosInvocation } from '../command/invocation.js'
import { raise } from '../remote/command-reply.js'

type Verb = (invocation: MongosInvocation, verb: string) => Promise<DocumentWriter>

const verbs: Readonly<Record<string, Verb>> = {
  apply: askCluster,
  list: askCluster,
  heal: askCluster,
  explainBalance,
}

/** `{ shardlab: verb, … }` on admin. `apply` takes `fault`, a text or a document; `heal` takes `id`, without which all faults are healed. */
export const shardlab: CommandRow<MongosInvocation> = {
  name: 'shardlab',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command',
  status: 'full',
  summary: 'Breaks and heals parts of the cluster (apply, list, heal), and explains why a collection is balanced or not (explainBalance).',
  run(invocation) {
    const verb = invocation.args.targetString()
    const run = Object.hasOwn(verbs, verb) ? verbs[verb]! : null
    if (run === null) throw new CommandError('BadValue', `shardlab has no verb ${verb}; its verbs are ${Object.keys(verbs).join(', ')}.`)
    return run(invocation, verb)
  },
}

/** The one who runs the cluster answers. */
async function askCluster({ host, body, operation }: MongosInvocation, verb: string): Promise<DocumentWriter> {
  const { reply, error } = await operation.interruptible(host.context.request(clusterAddress, 'cluster.faults', { verb, body }))
  raise(error)
  const writer = new DocumentWriter(reply.length + 168)
  for (const it = new FieldIterator(reply); it.next();) writer.value(it.name(), it.value())
  return writer
}
