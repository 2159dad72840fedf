import { CommandError, DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import { documentsArgument } from '@shardlab/member'
import { filterShape } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'

/** The arguments that have the filter. */
const filterArguments: ReadonlyMap<string, string> = new Map([
  ['find', 'filter'],
  ['count', 'query'],
  ['distinct', 'query'],
  ['findAndModify', 'query'],
])
const statementArguments: ReadonlyMap<string, string> = new Map([
  ['update', 'updates'],
  ['delete', 'deletes'],
])

/** As `shape` of the event `operations`; null: there is no filter, or it has no shape. */
export function shapeOf(invocation: MongosInvocation): Uint8Array | null {
  try {
    return invocation.args.command === 'aggregate' ? pipelineShape(invocation) : shapeOfFilter(invocation)
  } catch (error) {
    // The command has failed, too.
    if (error instanceof CommandError) return null
    throw error
  }
}

function shapeOfFilter(invocation: MongosInvocation): Uint8Array | null {
  const { args } = invocation
  const statements = statementArguments.get(args.command)
  if (statements !== undefined) {
    const [first] = documentsArgument(invocation, statements)
    const filter = first === undefined ? undefined : findField(first, 'q')
    return filter === undefined ? null : filterShape(filter.slice())
  }
  const filter = args.document(filterArguments.get(args.command) ?? '')
  return filter === undefined ? null : filterShape(filter)
}

function pipelineShape({ args }: MongosInvocation): Uint8Array {
  const writer = new DocumentWriter(256).startArray('pipeline')
  for (const [i, stage] of (args.pipeline() ?? []).entries()) {
    const name = firstFieldName(stage) ?? ''
    const match = i === 0 && name === '$match' ? findField(stage, name)! : null
    if (match === null) writer.string(String(i), name)
    else writer.startDocument(String(i)).document(name, filterShape(match.slice())).end()
  }
  return writer.end().finish()
}
