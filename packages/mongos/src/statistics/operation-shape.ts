import { BsonType, CommandError, DocumentWriter, findField, firstFieldName, type RawValue } from '@shardlab/bson'
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
/** And the name of the filter in a statement. */
const statementArguments: ReadonlyMap<string, { readonly documents: string; readonly filter: string }> = new Map([
  ['update', { documents: 'updates', filter: 'q' }],
  ['delete', { documents: 'deletes', filter: 'q' }],
  ['bulkWrite', { documents: 'ops', filter: 'filter' }],
])

/** As `shape` of the event `operations`; null: there is no filter, or it has no shape. */
export function shapeOf(invocation: MongosInvocation): Uint8Array | null {
  try {
    return invocation.operation.command === 'aggregate' ? pipelineShape(invocation) : shapeOfFilter(invocation)
  } catch (error) {
    // The command has failed, too.
    if (error instanceof CommandError) return null
    throw error
  }
}

function shapeOfFilter(invocation: MongosInvocation): Uint8Array | null {
  const { args, operation } = invocation
  const statements = statementArguments.get(operation.command)
  if (statements === undefined) return shapeOfValue(args.value(filterArguments.get(operation.command) ?? ''))
  const [first] = documentsArgument(invocation, statements.documents)
  return shapeOfValue(first === undefined ? undefined : findField(first, statements.filter))
}

/** Of a command that fails, it can be of any type. */
const shapeOfValue = (filter: RawValue | undefined): Uint8Array | null =>
  filter?.type === BsonType.object ? filterShape(filter.slice()) : null

function pipelineShape({ args }: MongosInvocation): Uint8Array {
  const writer = new DocumentWriter(256).startArray('pipeline')
  for (const [i, stage] of (args.pipeline() ?? []).entries()) {
    const name = firstFieldName(stage) ?? ''
    const match = i === 0 && name === '$match' ? findField(stage, name) : undefined
    if (match?.type !== BsonType.object) writer.string(String(i), name)
    else writer.startDocument(String(i)).document(name, filterShape(match.slice())).end()
  }
  return writer.end().finish()
}
