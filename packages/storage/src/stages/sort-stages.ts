/** Server: exec/sort.cpp, merge_sort.cpp. */
import { sortOrder, type SortKey, type SortOrder } from '@shardlab/query'
import type { StringComparator } from '@shardlab/bson'
import type { PlanStage } from '../plans/plan-stage.js'
import { Sorter } from './sorter.js'
import { advanced, needTime, Stage, type Row, type StageState } from './stage.js'

export class SortStage extends Stage {
  readonly #input: Stage
  readonly #sorter: Sorter
  readonly #limitBytes: number
  #phase: 'reading' | 'settling' | 'returning' = 'reading'
  #bytes = 0

  constructor(
    plan: Extract<PlanStage, { stage: 'SORT' }>,
    strings: StringComparator | undefined,
    { memoryBytes, allowDiskUse }: { memoryBytes: number; allowDiskUse: boolean },
    input: Stage,
  ) {
    super(plan, [input])
    this.#input = input
    this.#limitBytes = memoryBytes
    // allowDiskUse makes the memory unlimited, because there is no disk to spill to.
    this.#sorter = new Sorter(sortOrder(plan.sort, strings), plan.limit, allowDiskUse ? Infinity : memoryBytes)
  }

  work(): StageState {
    if (this.#phase === 'settling') {
      // Not counted: the server has no such works.
      if (!this.#sorter.settle()) this.#phase = 'returning'
      return needTime
    }
    this.works++
    if (this.#phase === 'reading') {
      const state = this.#input.work()
      if (state === advanced) {
        this.#bytes += this.#input.row.document.length
        this.#sorter.add(this.#input.row)
      } else if (state !== needTime) this.#phase = 'settling'
      return needTime
    }
    const row = this.#sorter.next()
    return row === undefined ? this.end() : this.emit(row)
  }

  override counters(): readonly (readonly [string, number | boolean])[] {
    const spills = this.#bytes > this.#limitBytes ? 1 : 0
    return [
      ['totalDataSizeSorted', this.#bytes],
      ['usedDisk', spills > 0],
      ['spills', spills],
      ['spilledDataStorageSize', spills > 0 ? this.#bytes : 0],
    ]
  }
}

interface QueuedRow {
  readonly input: Stage
  readonly row: Row
  readonly key: SortKey
}

export class MergeSortStage extends Stage {
  readonly #order: SortOrder
  readonly #seen: Set<number> | null
  /** Inputs without a row in the queue. The next row is known once this is empty. */
  readonly #unread: Stage[]
  /** One row of each other input; the next one is last. */
  readonly #queue: QueuedRow[] = []
  #dupsTested = 0
  #dupsDropped = 0

  constructor(
    plan: Extract<PlanStage, { stage: 'SORT_MERGE' }>,
    strings: StringComparator | undefined,
    inputs: readonly Stage[],
  ) {
    super(plan, inputs)
    this.#order = sortOrder(plan.sort, strings)
    this.#seen = plan.dedup ? new Set() : null
    this.#unread = [...inputs]
  }

  work(): StageState {
    this.works++
    const input = this.#unread[0]
    if (input === undefined) {
      const next = this.#queue.pop()
      if (next === undefined) return this.end()
      this.#unread.push(next.input)
      return this.emit(next.row)
    }
    const state = input.work()
    if (state === needTime) return needTime
    if (state !== advanced) {
      this.#unread.shift()
      return needTime
    }
    const { row } = input
    if (this.#seen !== null) {
      this.#dupsTested++
      if (this.#seen.has(row.recordId)) {
        this.#dupsDropped++
        return needTime
      }
      this.#seen.add(row.recordId)
    }
    this.#unread.shift()
    this.#insert({ input, row, key: this.#order.keyOf(row.document) })
    return needTime
  }

  #insert(entry: QueuedRow): void {
    let low = 0
    let high = this.#queue.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#order.compare(this.#queue[middle]!.key, entry.key) > 0) low = middle + 1
      else high = middle
    }
    this.#queue.splice(low, 0, entry)
  }

  override counters(): readonly (readonly [string, number])[] {
    return [
      ['dupsTested', this.#dupsTested],
      ['dupsDropped', this.#dupsDropped],
    ]
  }
}
