/** The operations in `applyOps` entries. Server: apply_ops.cpp, extractOperations. */
import { CommandError, documentsOf, findField, sameBytes, type RawValue } from '@shardlab/bson'
import {
  decodeOperation,
  type Collection,
  type LogEntry,
  type LogOperationFields,
  type StorageEngine,
} from '@shardlab/storage'

/**
 * As entries with the time of `entry`. Each has to be applied before the next one is read, because
 * an update is the difference to the stored document. A prepared transaction finds collections that
 * were renamed since, and has no effect on those that were dropped.
 */
export function* operationsIn(
  parts: readonly Uint8Array[],
  { ts, term, wallMs }: Pick<LogEntry, 'ts' | 'term' | 'wallMs'>,
  engine: StorageEngine,
): Generator<LogEntry, void, void> {
  let applyOpsIndex = 0
  for (const part of parts) {
    const operations = findField(part, 'applyOps')
    if (operations === undefined) throw new CommandError('FailedToParse', 'a log entry has no applyOps')
    for (const operation of documentsOf(operations)) {
      const change = operationIn(operation, engine)
      if (change !== null) yield { ts, term, wallMs, session: null, applyOpsIndex, ...change }
      applyOpsIndex++
    }
  }
}

/** Null: its collection is gone. */
function operationIn(operation: Uint8Array, engine: StorageEngine): LogOperationFields | null {
  const uuid = findField(operation, 'ui')
  if (uuid === undefined || findField(operation, 'op')!.asString() === 'c')
    return decodeOperation(operation, () => undefined)
  const collection = collectionOf(engine, findField(operation, 'ns')!.asString(), uuid.asBinary())
  if (collection === undefined) return null
  const stored = (_: string, id: RawValue) => collection.findById(id)?.document
  return { ...decodeOperation(operation, stored), ns: collection.ns }
}

function collectionOf(engine: StorageEngine, ns: string, uuid: Uint8Array): Collection | undefined {
  const named = engine.collection(ns)
  if (named !== undefined && sameBytes(named.uuid, uuid)) return named
  return engine.collections().find((each) => sameBytes(each.uuid, uuid))
}
