/** A batch of statements as the client sent it. */
import { DocumentWriter, FieldIterator } from '@shardlab/bson'
import { checkBatchSize, documentsArgument } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'

export type WriteKind = 'insert' | 'update' | 'delete'

const statementFields = { insert: 'documents', update: 'updates', delete: 'deletes' } as const

export interface WriteCommand {
  readonly kind: WriteKind
  readonly ns: string
  readonly ordered: boolean
  readonly statements: readonly Uint8Array[]
  /** The statements are those of the client's message, byte by byte. */
  readonly untouched: boolean
}

/** @throws CommandError 16 InvalidLength, 73 InvalidNamespace */
export function parseWriteCommand(invocation: MongosInvocation, kind: WriteKind): WriteCommand {
  const { args, db } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  const statements = documentsArgument(invocation, statementFields[kind])
  checkBatchSize(statements.length)
  return { kind, ns, ordered: args.bool('ordered') ?? true, statements, untouched: true }
}

/** Name of the array of statements. */
export function statementField(kind: WriteKind): string {
  return statementFields[kind]
}

/** The command without its statements, which go beside it as a document sequence. */
export function headerOf({ body }: MongosInvocation, kind: WriteKind): Uint8Array {
  const field = statementFields[kind]
  const writer = new DocumentWriter(256)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name !== field) writer.value(name, it.value())
  }
  return writer.finish()
}
