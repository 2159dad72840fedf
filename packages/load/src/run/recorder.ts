import type { OperationResult } from '../engines/engine.js'
import type { Target } from '../placement/placement.js'
import type { RoutingClass } from '../types.js'
import type { Plan } from '../workload/schedule.js'
import { encodeHistogram, newHistogram, note, type Histogram } from './histograms.js'

export interface CellData {
  readonly operation: number
  readonly routingClass: RoutingClass
  readonly errors: number
  readonly intended: string
  readonly service: string
  readonly count: number
}

export interface RecorderData {
  readonly cells: readonly CellData[]
  /** Histogram of failed operations; null: none. */
  readonly failed: string | null
  readonly errors: readonly (readonly [operation: number, code: string, count: number])[]
  /** By shard index. */
  readonly perShard: readonly number[]
  /** By shard index: successful operations that went to this shard alone; null: none. */
  readonly shardLatencies: readonly (string | null)[]
  /** Sparse: interval and its figures. */
  readonly timeline: readonly (readonly [interval: number, errors: number, histogram: string])[]
  /** Reads that missed a loaded record: the number, and the first cycles. */
  readonly wrongReads: { readonly count: number; readonly cycles: readonly number[] }
}

interface Cell {
  readonly operation: number
  readonly routingClass: RoutingClass
  readonly intended: Histogram
  readonly service: Histogram
  errors: number
}

interface Interval {
  readonly histogram: Histogram
  errors: number
}

const examplesMax = 10

export class Recorder {
  readonly #cells = new Map<string, Cell>()
  readonly #errors = new Map<string, [operation: number, code: string, count: number]>()
  readonly #perShard: number[] = []
  readonly #shardLatencies: Histogram[] = []
  readonly #intervals: Interval[] = []
  readonly #intervalUs: number
  #failed: Histogram | null = null
  #wrongReads = 0
  readonly #wrongCycles: number[] = []
  /** For progress. */
  operations = 0
  failures = 0

  constructor(intervalUs: number) {
    this.#intervalUs = intervalUs
  }

  /** @param elapsedUs from the start of the measured time to the reply */
  note(
    plan: Plan,
    target: Target,
    result: OperationResult,
    intendedUs: number,
    serviceUs: number,
    elapsedUs: number,
  ): void {
    this.operations++
    const cell = this.#cell(plan.operation.index, target.routingClass)
    const interval = (this.#intervals[Math.max(0, Math.floor(elapsedUs / this.#intervalUs))] ??= {
      histogram: newHistogram(2),
      errors: 0,
    })
    for (const shard of target.shards) this.#perShard[shard] = (this.#perShard[shard] ?? 0) + 1
    note(interval.histogram, intendedUs)
    if (result.error === null) {
      note(cell.intended, intendedUs)
      note(cell.service, serviceUs)
      if (target.shards.length === 1) note((this.#shardLatencies[target.shards[0]!] ??= newHistogram(2)), intendedUs)
      return
    }
    this.failures++
    cell.errors++
    interval.errors++
    this.#failed ??= newHistogram()
    note(this.#failed, intendedUs)
    const key = `${plan.operation.index} ${result.error}`
    const error = this.#errors.get(key)
    if (error === undefined) this.#errors.set(key, [plan.operation.index, result.error, 1])
    else error[2]++
  }

  noteWrongRead(cycle: number): void {
    if (this.#wrongReads++ < examplesMax) this.#wrongCycles.push(cycle)
  }

  /** The 99th percentile of the last complete interval. */
  lastP99Us(): number | null {
    const last = this.#intervals.at(-2)
    return last === undefined ? null : last.histogram.getValueAtPercentile(99)
  }

  data(): RecorderData {
    const cells = [...this.#cells.values()].map(({ intended, service, ...cell }) => ({
      ...cell,
      count: intended.totalCount + cell.errors,
      intended: encodeHistogram(intended),
      service: encodeHistogram(service),
    }))
    const timeline = this.#intervals.flatMap((interval, i) =>
      interval === undefined ? [] : [[i, interval.errors, encodeHistogram(interval.histogram)] as const],
    )
    return {
      cells,
      failed: this.#failed === null ? null : encodeHistogram(this.#failed),
      errors: [...this.#errors.values()],
      perShard: Array.from(this.#perShard, (count) => count ?? 0),
      shardLatencies: Array.from(this.#shardLatencies, (histogram) =>
        histogram === undefined ? null : encodeHistogram(histogram),
      ),
      timeline,
      wrongReads: { count: this.#wrongReads, cycles: this.#wrongCycles },
    }
  }

  #cell(operation: number, routingClass: RoutingClass): Cell {
    const key = `${operation} ${routingClass}`
    let cell = this.#cells.get(key)
    if (cell === undefined) {
      cell = { operation, routingClass, intended: newHistogram(), service: newHistogram(), errors: 0 }
      this.#cells.set(key, cell)
    }
    return cell
  }
}
