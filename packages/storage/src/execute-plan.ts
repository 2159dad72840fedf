/** Plans as pull iterators: source, filter, ownership, sort, skip, limit, projection. Nothing here waits. */
import type { IndexScan, QueryPlan } from './plan.js'
import type { StoredRecord } from './record-table.js'
import { Sorter, sortMemoryLimitBytes } from './sorter.js'
import type { Collection } from './types.js'

export interface ExecuteOptions {
  /** Rows that it refuses do not exist for this query; the ownership filter of a shard. */
  readonly rowFilter?: (document: Uint8Array) => boolean
  /** May the sort go beyond its memory? There is no disk to use, so then nothing limits it. Default false. */
  readonly allowDiskUse?: boolean
  /** Default 100 MiB. */
  readonly sortMemoryBytes?: number
}

/** What explain and the profiler tell. */
export interface ExecutionStats {
  keysExamined: number
  docsExamined: number
  /** Rows that the row filter refused: explain's `chunkSkips`. */
  rowsFiltered: number
  returned: number
  hasSortStage: boolean
}

export interface PlanExecutor {
  /**
   * The next row, projected; null at the end, and from then on.
   * @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed, and what the projection throws
   */
  next(): StoredRecord | null
  readonly stats: Readonly<ExecutionStats>
}

/** The collection of the plan must not be written while rows are pulled: plan over a snapshot for a cursor that lives on. */
export function executePlan(plan: QueryPlan, options: ExecuteOptions = {}): PlanExecutor {
  return new Executor(plan, options)
}

type Source = () => StoredRecord | null

class Executor implements PlanExecutor {
  readonly stats: ExecutionStats = { keysExamined: 0, docsExamined: 0, rowsFiltered: 0, returned: 0, hasSortStage: false }
  readonly #plan: QueryPlan
  readonly #options: ExecuteOptions
  readonly #pull: Source
  #sorted: StoredRecord[] | null = null
  #sortedAt = 0
  #toSkip: number
  #left: number

  constructor(plan: QueryPlan, options: ExecuteOptions) {
    this.#plan = plan
    this.#options = options
    this.#pull = sourceOf(plan, this.stats)
    this.#toSkip = plan.skip
    this.#left = plan.limit === 0 ? Infinity : plan.limit
    this.stats.hasSortStage = plan.sort !== null
  }

  next(): StoredRecord | null {
    if (this.#left === 0) return null
    for (;;) {
      const record = this.#plan.sort === null ? this.#matching() : this.#nextSorted()
      if (record === null) {
        this.#left = 0
        return null
      }
      if (this.#toSkip > 0) {
        this.#toSkip--
        continue
      }
      this.#left--
      this.stats.returned++
      const { projection } = this.#plan
      return projection === null ? record : { recordId: record.recordId, document: projection.apply(record.document) }
    }
  }

  #matching(): StoredRecord | null {
    const { filter } = this.#plan
    const { rowFilter } = this.#options
    for (let record = this.#pull(); record !== null; record = this.#pull()) {
      if (!filter.matches(record.document)) continue
      if (rowFilter === undefined || rowFilter(record.document)) return record
      this.stats.rowsFiltered++
    }
    return null
  }

  #nextSorted(): StoredRecord | null {
    this.#sorted ??= this.#sortAll()
    return this.#sorted[this.#sortedAt++] ?? null
  }

  #sortAll(): StoredRecord[] {
    const { sort, skip, limit } = this.#plan
    const limitBytes = this.#options.allowDiskUse === true ? Infinity : (this.#options.sortMemoryBytes ?? sortMemoryLimitBytes)
    const sorter = new Sorter(sort!, limit === 0 ? 0 : skip + limit, limitBytes)
    for (let record = this.#matching(); record !== null; record = this.#matching()) sorter.add(record)
    return sorter.finish()
  }
}

function sourceOf({ source, collection }: QueryPlan, stats: ExecutionStats): Source {
  switch (source.stage) {
    case 'EOF':
      return () => null
    case 'IDHACK': {
      let record: StoredRecord | null | undefined
      return () => {
        if (record !== undefined) return null
        record = collection.findById(source.id) ?? null
        if (record !== null) {
          stats.keysExamined = 1
          stats.docsExamined = 1
        }
        return record
      }
    }
    case 'COLLSCAN': {
      const scan = collection.scan({ reverse: source.reverse })
      return () => {
        const record = scan.next()
        if (record !== null) stats.docsExamined++
        return record
      }
    }
    case 'IXSCAN':
      return fetching(collection, [source.scan], source.scan.index.multikey, stats)
    case 'OR':
      return fetching(collection, source.scans, true, stats)
  }
}

/** Scans one after the other and fetches what they point to, each record once when they may repeat. */
function fetching(collection: Collection, scans: readonly IndexScan[], mayRepeat: boolean, stats: ExecutionStats): Source {
  const recordIds = recordIdsOf(scans, stats)
  const seen = mayRepeat ? new Set<number>() : null
  return () => {
    for (let recordId = recordIds(); recordId >= 0; recordId = recordIds()) {
      if (seen !== null) {
        if (seen.has(recordId)) continue
        seen.add(recordId)
      }
      stats.docsExamined++
      return collection.get(recordId)!
    }
    return null
  }
}

/** The record ids under all ranges of the scans, in order; -1 at the end. */
function recordIdsOf(scans: readonly IndexScan[], stats: ExecutionStats): () => number {
  const pending = scans.flatMap(({ index, ranges, reverse }) =>
    (reverse ? ranges.toReversed() : ranges).map((range) => ({ index, range, reverse })),
  )
  let next = 0
  let cursor = cursorAt(next++)
  return () => {
    while (cursor !== null) {
      const recordId = cursor.next()
      if (recordId >= 0) {
        stats.keysExamined++
        return recordId
      }
      cursor = cursorAt(next++)
    }
    return -1
  }
  function cursorAt(position: number): ReturnType<IndexScan['index']['scanKeys']> | null {
    const step = pending[position]
    return step === undefined ? null : step.index.scanKeys(step.range.from, step.range.to, step.reverse)
  }
}
