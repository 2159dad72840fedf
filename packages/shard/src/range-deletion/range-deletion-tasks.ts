/**
 * config.rangeDeletions: ranges that a shard does not own, or may not come to own.
 * Server: range_deletion_task.idl.
 */
import { uuidValue } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { Collection, LogEntry } from '@shardlab/storage'
import { keysOf, parseRange, type KeyRange } from '../ranges/key-range.js'
import {
  fieldsIn,
  parseTask,
  writeTask,
  type RangeDeletionTask,
  type StoredTask,
  type TaskFields,
  type TaskState,
} from './range-deletion-task.js'
import { Records } from '../common/record-store.js'
import { TaskRanges, type TaskRange } from './task-ranges.js'

const tasksNs = 'config.rangeDeletions'

export class RangeDeletionTasks extends Records<RangeDeletionTask, Uint8Array> {
  readonly #node: NodeHost
  /** Of all tasks, maintained from the log; null: not yet read from the collection. */
  #ranges: TaskRanges | null = null
  /** The task being written: the log observer need not parse it. */
  #putting: RangeDeletionTask | null = null
  /** The log entry being written changes only the state of a task. */
  #isChanging = false

  constructor(node: NodeHost) {
    super(node, { ns: tasksNs, id: uuidValue, write: (task) => writeTask(task, node.clock.time), read: parseTask })
    this.#node = node
    node.observe((entry, preImage) => this.#onEntry(entry, preImage))
  }

  override put(task: RangeDeletionTask): void {
    this.#putting = task
    try {
      super.put(task)
    } finally {
      this.#putting = null
    }
  }

  /**
   * Changes the state of a task, unless the result is null. The caller flushes the node.
   * @returns the current task; undefined: there is none
   */
  changeState(
    id: Uint8Array,
    changed: (task: RangeDeletionTask) => Partial<TaskState> | null,
  ): RangeDeletionTask | undefined {
    let now: StoredTask | undefined
    this.#isChanging = true
    try {
      this.store.change(uuidValue(id), (document) => {
        now = parseTask(document)
        const state = now === undefined ? null : changed(now)
        if (state === null) return undefined
        now = now!.with(state)
        return now.write(this.#node.clock.time)
      })
    } finally {
      this.#isChanging = false
    }
    return now
  }

  /** Whether a task has keys of the range. @param range null: any range */
  anyIn(collectionUuid: Uint8Array, range: KeyRange | null): boolean {
    const collection = this.#node.collection(tasksNs)
    if (collection === undefined || collection.count === 0) return false
    const ranges = (this.#ranges ??= rangesIn(collection))
    return range === null ? ranges.anyOf(collectionUuid) : ranges.anyBetween(collectionUuid, ...keysOf(range))
  }

  #onEntry({ op, ns, object }: LogEntry, preImage: Uint8Array | null): void {
    if (this.#ranges === null) return
    // The collection may have been dropped or renamed.
    if (op === 'c') this.#ranges = null
    else if (ns !== tasksNs || this.#isChanging) return
    else if (op === 'i' && this.#putting !== null) this.#ranges.add(placeOf(this.#putting))
    else {
      const before = preImage === null ? undefined : fieldsIn(preImage)
      const after = op === 'd' ? undefined : fieldsIn(object)
      if (before !== undefined && after !== undefined && isSamePlace(before, after)) return
      if (before !== undefined) this.#ranges.remove(rangeAt(before))
      if (after !== undefined) this.#ranges.add(rangeAt(after))
    }
  }
}

type TaskPlace = Pick<TaskFields, 'collectionUuid' | 'range'>

function isSamePlace(a: TaskPlace, b: TaskPlace): boolean {
  return a.range.isIdentical(b.range) && a.collectionUuid.isIdentical(b.collectionUuid)
}

function rangeAt({ collectionUuid, range }: TaskPlace): TaskRange {
  return placeOf({ collectionUuid: collectionUuid.asBinary(), range: parseRange(range) })
}

function placeOf({ collectionUuid, range }: Pick<RangeDeletionTask, 'collectionUuid' | 'range'>): TaskRange {
  const [low, high] = keysOf(range)
  return { collectionUuid, low, high }
}

function rangesIn(collection: Collection): TaskRanges {
  const ranges = new TaskRanges()
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    const place = fieldsIn(record.document)
    if (place !== undefined) ranges.add(rangeAt(place))
  }
  return ranges
}
