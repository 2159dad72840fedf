/**
 * What the write commands have in common: a batch of statements run in order, each once, stopping where the server stops.
 * Server: write_ops_exec.cpp.
 */
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import { documentsArgument, type NodeInvocation } from '../invocation.js'
import type { Access } from '../role.js'
import type { ExecutedStatement } from '../sessions/retry-history.js'
import { checkStatements, type ModifyKind } from './statement.js'
import { isStaleError, writeWriteErrors, type WriteError } from './write-errors.js'
import type { LogSession } from '@shardlab/storage'

/** Most statements of one write command. */
export const writeBatchSizeMax = 100_000

export type WriteKind = 'insert' | ModifyKind

/** The argument that holds the statements. */
export const statementArguments = { insert: 'documents', update: 'updates', delete: 'deletes' } as const

/** The statements of a write command, checked. @throws CommandError 16 InvalidLength, and those of {@link checkStatements} */
export function statementsOf(invocation: Pick<NodeInvocation, 'args' | 'sequences'>, kind: WriteKind): readonly Uint8Array[] {
  const statements = documentsArgument(invocation, statementArguments[kind])
  if (kind !== 'insert') checkStatements(kind, statements)
  const count = statements.length
  if (count < 1 || count > writeBatchSizeMax) {
    throw new CommandError('InvalidLength', `Write batch sizes must be between 1 and ${writeBatchSizeMax}. Got ${count} operations.`)
  }
  return statements
}

/** Where a batch works. */
export interface BatchTarget {
  readonly ns: string
  readonly access: Access
}

/** What one kind of write does with its statements. */
export interface StatementRunner {
  readonly kind: WriteKind
  /** Runs one; `session` goes into its log entries. @throws CommandError what becomes a write error */
  run(statement: Uint8Array, index: number, target: BatchTarget, session: LogSession | null): void
  /** The statement has been run before: takes its result into account without running it. */
  repeat(executed: ExecutedStatement, index: number): void
}

/** Writes `writeErrors` and `retriedStmtIds` of a batch that was run. */
export type BatchTail = (writer: DocumentWriter) => DocumentWriter

/** @throws CommandError those of {@link statementsOf}, and what the role refuses the whole command with */
export async function runWriteBatch(invocation: NodeInvocation, runner: StatementRunner): Promise<BatchTail> {
  const { host, args, db, retryable } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  const statements = statementsOf(invocation, runner.kind)
  const ordered = args.bool('ordered') ?? true
  const entered = host.role.enter(ns, invocation)
  const target = { ns, access: entered instanceof Promise ? await entered : entered }
  const errors: WriteError[] = []
  const retried: number[] = []
  for (let index = 0; index < statements.length; index++) {
    try {
      const stmtId = retryable?.stmtId(index) ?? index
      const executed = retryable === null ? undefined : host.retries.executed(retryable.session.key, retryable.txnNumber, stmtId)
      if (executed !== undefined) {
        retried.push(stmtId)
        runner.repeat(executed, index)
        continue
      }
      const session = retryable === null ? null : { lsid: retryable.session.document, txnNumber: retryable.txnNumber, stmtIds: [stmtId] }
      runner.run(statements[index]!, index, target, session)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      errors.push({ index, error })
      if (ordered || isStaleError(error)) break
    }
  }
  await host.flush()
  return (writer) => {
    writeWriteErrors(writer, errors)
    if (retried.length > 0) {
      writer.startArray('retriedStmtIds')
      retried.forEach((stmtId, i) => writer.int32(String(i), stmtId))
      writer.end()
    }
    return writer
  }
}
