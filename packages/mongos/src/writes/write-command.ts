/** Independent of the command in which the statements were sent. */
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import {
  databaseNameOf,
  errorItem,
  readBulkWrite,
  readModify,
  readStatement,
  statementArguments,
  statementsOf,
  type BulkWriteOp,
  type WriteKind,
  type WriteStatement,
} from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { writeErrorEntry } from './replies/shard-write-reply.js'

export interface WriteNamespace {
  readonly ns: string
  /** The command as if sent to this collection's database. */
  readonly invocation: MongosInvocation
}

export interface WriteCommand {
  readonly name: WriteKind | 'bulkWrite'
  readonly ordered: boolean
  readonly statements: readonly Uint8Array[]
  /** Whether the statements have the client's bytes. */
  readonly untouched: boolean
  readonly namespaces: readonly WriteNamespace[]
  readonly filterField: 'q' | 'filter'
  namespaceOf(index: number): number
  kindOf(index: number): WriteKind
  read(index: number): WriteStatement
  /** They follow {@link headerOf}. */
  sequencesFor(statements: readonly Uint8Array[]): readonly (readonly [string, readonly Uint8Array[]])[]
  errorEntry(index: number, error: CommandError): Uint8Array
}

/** @throws CommandError 73 InvalidNamespace, and those of {@link statementsOf} */
export function parseWriteCommand(invocation: MongosInvocation, kind: WriteKind): WriteCommand {
  const { args, db } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  return statementsCommand(kind, { ns, invocation }, args.bool('ordered') ?? true, statementsOf(invocation, kind), true)
}

export function withStatements(
  { name, namespaces, ordered }: WriteCommand,
  statements: readonly Uint8Array[],
): WriteCommand {
  return statementsCommand(name as WriteKind, namespaces[0]!, ordered, statements, false)
}

function statementsCommand(
  kind: WriteKind,
  namespace: WriteNamespace,
  ordered: boolean,
  statements: readonly Uint8Array[],
  untouched: boolean,
): WriteCommand {
  return {
    name: kind,
    ordered,
    statements,
    untouched,
    namespaces: [namespace],
    filterField: 'q',
    namespaceOf: () => 0,
    kindOf: () => kind,
    read: (index) =>
      kind === 'insert' ? { kind, document: statements[index]! } : readModify(kind, statements[index]!),
    sequencesFor: (some) => [[statementArguments[kind], some]],
    errorEntry: writeErrorEntry,
  }
}

/**
 * `errorsOnly` and `cursor` affect only the reply to the client.
 * @throws CommandError those of {@link readBulkWrite}
 */
export function parseBulkWrite(invocation: MongosInvocation, prepare: (op: BulkWriteOp) => BulkWriteOp): WriteCommand {
  const request = readBulkWrite(invocation)
  const ops = request.ops.map(prepare)
  const nsInfo = request.namespaces.map((ns, i) => {
    const uuid = request.uuids[i] ?? null
    const writer = new DocumentWriter(64).string('ns', ns)
    return (uuid === null ? writer : writer.uuid('collectionUUID', uuid)).finish()
  })
  return {
    name: 'bulkWrite',
    ordered: request.ordered,
    statements: ops.map(({ document }) => document),
    untouched: ops.every((op, i) => op === request.ops[i]),
    namespaces: request.namespaces.map((ns) => ({ ns, invocation: { ...invocation, db: databaseNameOf(ns) } })),
    filterField: 'filter',
    namespaceOf: (index) => ops[index]!.namespace,
    kindOf: (index) => ops[index]!.kind,
    read: (index) => readStatement(ops[index]!),
    sequencesFor: (some) => [
      ['ops', some],
      ['nsInfo', nsInfo],
    ],
    errorEntry: (index, error) => errorItem(index, error, ops[index]!.kind === 'update', 0),
  }
}

const statementSequences: ReadonlySet<string> = new Set(['documents', 'updates', 'deletes', 'ops', 'nsInfo'])

/**
 * Omits the statements, which follow as document sequences, and the fields that only affect the
 * reply.
 */
export function headerOf({ body }: MongosInvocation): Uint8Array {
  const writer = new DocumentWriter(256)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (!statementSequences.has(name) && name !== 'cursor') writer.value(name, it.value())
  }
  return writer.finish()
}
