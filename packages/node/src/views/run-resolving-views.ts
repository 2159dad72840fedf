/** Runs reads on views as aggregates on the collection below. `aggregate` resolves views itself. */
import type { CommandRow } from '@shardlab/actor'
import { BsonType, DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import { viewReply, type ResolvedView, explainBody } from '@shardlab/member'
import { invocationOnView, viewFor } from './run-on-view.js'
import type { NodeInvocation } from '../host/node-host.js'

type Row = CommandRow<NodeInvocation>

const explainable: ReadonlySet<string> = new Set(['find', 'count', 'distinct', 'aggregate'])

/** @throws CommandError as {@link viewFor}, and the errors of the command */
export function runResolvingViews(row: Row, invocation: NodeInvocation): Promise<DocumentWriter> | DocumentWriter {
  switch (row.name) {
    case 'find':
    case 'count':
    case 'distinct': {
      const { target } = invocation.args
      if (target.type !== BsonType.string) return row.run(invocation)
      const ns = invocation.args.namedCollection(invocation.db)!
      const view = viewFor(invocation, ns)
      return view === null ? row.run(invocation) : runOnView(row, invocation, ns, view)
    }
    case 'explain':
      return row.run(explainOnView(invocation))
    default:
      return row.run(invocation)
  }
}

async function runOnView(
  row: Row,
  invocation: NodeInvocation,
  ns: string,
  view: ResolvedView,
): Promise<DocumentWriter> {
  const aggregate = invocation.host.table.find('aggregate', invocation.host.behaviours)!
  return viewReply(row.name, await aggregate.run(invocationOnView(invocation, ns, view)))
}

/** If the explained command names a view, explains the command on the collection below. */
function explainOnView(invocation: NodeInvocation): NodeInvocation {
  const { args, db } = invocation
  if (args.target.type !== BsonType.object) return invocation
  const explained = args.target.slice()
  const name = firstFieldName(explained)
  const target = name === undefined || !explainable.has(name) ? undefined : findField(explained, name)
  if (target?.type !== BsonType.string) return invocation
  const view = viewFor(invocation, `${db}.${target.asString()}`)
  return view === null
    ? invocation
    : { ...invocation, ...explainBody(invocation.body, view), sequences: [], ofView: explained }
}
