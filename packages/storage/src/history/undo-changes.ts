import { idOf } from '../records/document-id.js'
import type { MemoryCollection } from '../engine/memory-collection.js'
import { compareTimes, type Undo, type UndoLog } from './undo-log.js'

/** @param collections at the time `from`; they become those at `time` */
export function undoChanges(
  collections: Map<string, MemoryCollection>,
  log: UndoLog,
  from: Undo['ts'],
  time: Undo['ts'],
): void {
  for (const undo of log.between(time, from)) {
    if (undo.op === 'c') undoCommand(collections, undo)
    else undoChange(collections.get(undo.ns)!, undo, time)
  }
}

function undoCommand(collections: Map<string, MemoryCollection>, { collections: before }: Undo): void {
  for (const [ns, collection] of before!) {
    if (collection === null) collections.delete(ns)
    else collections.set(ns, (collection as MemoryCollection).clone())
  }
}

function undoChange(collection: MemoryCollection, undo: Undo, time: Undo['ts']): void {
  const { op, document, recordId } = undo
  if (op === 'i') removeInserted(collection, undo, time)
  else if (op === 'u') collection.update(idOf(document!), document!)
  else collection.storeAgain(recordId, document!)
}

function removeInserted(collection: MemoryCollection, { ts, recordId, count }: Undo, time: Undo['ts']): void {
  const kept = compareTimes(ts, time) > 0 ? 0 : time[1] - ts[1] + 1
  for (let id = recordId + count - 1; id >= recordId + kept; id--) {
    const record = collection.get(id)
    // The state may be one in the middle of the run.
    if (record !== undefined) collection.delete(idOf(record.document))
  }
}
