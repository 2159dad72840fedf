/** A batch of statements as the client sent it. */
import { DocumentWriter, FieldIterator } from '@shardlab/bson'
import { statementArguments, statementsOf, type WriteKind } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'

export interface WriteCommand {
  readonly kind: WriteKind
  readonly ns: string
  readonly ordered: boolean
  readonly statements: readonly Uint8Array[]
  /** The statements are those of the client's message, byte by byte. */
  readonly untouched: boolean
}

/** @throws CommandError 73 InvalidNamespace, and those of {@link statementsOf} */
export function parseWriteCommand(invocation: MongosInvocation, kind: WriteKind): WriteCommand {
  const { args, db } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  return { kind, ns, ordered: args.bool('ordered') ?? true, statements: statementsOf(invocation, kind), untouched: true }
}

/** The command without its statements, which go beside it as a document sequence. */
export function headerOf({ body }: MongosInvocation, kind: WriteKind): Uint8Array {
  const field = statementArguments[kind]
  const writer = new DocumentWriter(256)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name !== field) writer.value(name, it.value())
  }
  return writer.finish()
}
