/** Server: write_ops_parsers.cpp. */
import type { CommandArguments } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import { type ModifyKind, checkedStatements } from './statement.js'
import { documentsArgument } from '../arguments/documents-argument.js'

export const writeBatchSizeMax = 100_000

export type WriteKind = 'insert' | ModifyKind

export const statementArguments = { insert: 'documents', update: 'updates', delete: 'deletes' } as const

/** @throws CommandError 16 InvalidLength, and those of {@link checkedStatements} */
export function statementsOf(invocation: StatementSource, kind: WriteKind): readonly Uint8Array[] {
  const given = documentsArgument(invocation, statementArguments[kind])
  const statements = kind === 'insert' ? given : checkedStatements(kind, given, invocation.host.behaviours)
  checkBatchSize(statements.length)
  return statements
}

export interface StatementSource {
  readonly args: CommandArguments
  readonly body: Uint8Array
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  readonly host: { readonly behaviours: Behaviours }
}

/** @throws CommandError 16 InvalidLength */
export function checkBatchSize(count: number): void {
  if (count < 1 || count > writeBatchSizeMax) {
    throw new CommandError(
      'InvalidLength',
      `Write batch sizes must be between 1 and ${writeBatchSizeMax}. Got ${count} operations.`,
    )
  }
}

export function writeRetriedStmtIds(writer: DocumentWriter, stmtIds: readonly number[]): DocumentWriter {
  if (stmtIds.length === 0) return writer
  writer.startArray('retriedStmtIds')
  stmtIds.forEach((stmtId, i) => writer.int32(String(i), stmtId))
  return writer.end()
}
