import type { ActorContext, OperationShape, Random, RoutedOperation } from '@shardlab/actor'
import { toExtendedJson } from '@shardlab/bson'
import { latencyClassOf } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { ChunkSums } from './chunk-sums.js'
import { shapeOf } from './operation-shape.js'
import type { NotedTarget } from './routed-target.js'
import { describeRouted } from './routed.js'

export const operationsTimer = 'operations'
const intervalMs = 500
const shapesMax = 100
const samplesMax = 10

type Kind = OperationShape['kind']
type Sum = { -readonly [Field in keyof OperationShape]: OperationShape[Field] }

/** Sums for the event `operations`. Faults of clocks do not concern them. */
export class OperationSums {
  readonly #host: { readonly context: ActorContext }
  readonly #sums = new Map<string, Sum>()
  readonly #shards = new Map<string, number>()
  readonly #chunks = new ChunkSums()
  #samples: RoutedOperation[] = []
  /** Operations since the last event. */
  #noted = 0
  #random: Random | null = null
  #fromMs = 0
  #lastMs = 0
  #emittedAtMs = -Infinity
  #isTimerSet = false

  constructor(host: { readonly context: ActorContext }) {
    this.#host = host
  }

  /**
   * Call only while someone wants the event.
   * @param error code name; null: it succeeded
   */
  note(invocation: MongosInvocation, error: string | null): void {
    const { operation } = invocation
    const isCounted = operation.routed !== null || latencyClassOf(operation.command) !== 'commands'
    if (!isCounted) return
    for (const noted of operation.routed ?? [null]) this.#add(invocation, noted, error)
    if (!this.#isTimerSet) this.#emitSoon()
  }

  wake(): void {
    this.#isTimerSet = false
    if (this.#sums.size > 0) this.#emit()
  }

  /** At once after a pause, so that single operations appear at once. */
  #emitSoon(): void {
    const { context } = this.#host
    const waitMs = this.#emittedAtMs + intervalMs - context.steadyNow()
    if (waitMs <= 0) return this.#emit()
    this.#isTimerSet = true
    context.setTimer(operationsTimer, waitMs)
  }

  #emit(): void {
    const { context } = this.#host
    context.emit({
      ...{ type: 'operations', atMs: this.#lastMs, mongos: context.address, fromMs: this.#fromMs },
      ...{ shapes: [...this.#sums.values()], shards: [...this.#shards] },
      ...{ chunks: this.#chunks.take(), samples: this.#samples },
    })
    this.#emittedAtMs = context.steadyNow()
    this.#sums.clear()
    this.#shards.clear()
    this.#samples = []
    this.#noted = 0
  }

  /**
   * The place of the next operation among the samples; null: it becomes no sample. All operations
   * since the last event have the same chance.
   */
  #placeOfSample(): number | null {
    const noted = this.#noted++
    if (noted < samplesMax) return noted
    this.#random ??= this.#host.context.random.fork('operation-samples')
    const place = this.#random.below(noted + 1)
    return place < samplesMax ? place : null
  }

  /** @param noted null: it failed, and its shards are unknown */
  #add(invocation: MongosInvocation, noted: NotedTarget | null, error: string | null): void {
    const { operation } = invocation
    const to = noted === null ? null : noted.target
    const { context } = this.#host
    const durationMs = context.steadyNow() - operation.startedSteadyMs
    this.#lastMs = context.steadyNow()
    if (this.#sums.size === 0) this.#fromMs = this.#lastMs
    for (const shard of to?.shards ?? []) this.#shards.set(shard, (this.#shards.get(shard) ?? 0) + 1)
    if (noted !== null) this.#chunks.add(noted)
    const shape = shapeOf(invocation)
    const kind = to?.kind ?? null
    const ns = to?.ns ?? namespaceOf(invocation)
    const own = keyOf(operation.command, ns, kind, shape)
    const isRest = this.#sums.size >= shapesMax && !this.#sums.has(own)
    const key = isRest ? keyOf(operation.command, '', kind, null) : own
    let sum = this.#sums.get(key)
    const place = this.#placeOfSample()
    if (sum === undefined || place !== null || durationMs > sum.slowest.durationMs) {
      const text = shape === null ? '' : toExtendedJson(shape)
      const sample = { ...sampleOf(invocation, noted, error), atMs: context.steadyNow(), ns, shape: text, durationMs }
      if (place !== null) this.#samples[place] = sample
      if (sum === undefined) this.#sums.set(key, (sum = newSum(sample, isRest)))
      if (durationMs > sum.slowest.durationMs) sum.slowest = sample
    }
    sum.operations++
    sum.durationMs += durationMs
    if (error !== null) sum.failed++
  }
}

function newSum(slowest: RoutedOperation, isRest: boolean): Sum {
  const { command, kind } = slowest
  const { ns, shape } = isRest ? { ns: '', shape: '' } : slowest
  return { ns, command, shape, kind, operations: 0, failed: 0, durationMs: 0, slowest }
}

function keyOf(command: string, ns: string, kind: Kind, shape: Uint8Array | null): string {
  const text = shape === null ? '' : Buffer.from(shape.buffer, shape.byteOffset, shape.length).toString('latin1')
  return `${command} ${ns} ${kind} ${text}`
}

/** Of a command that failed early. */
function namespaceOf({ args, db }: MongosInvocation): string {
  return args.namedCollection(db) ?? db
}

function sampleOf(
  invocation: MongosInvocation,
  noted: NotedTarget | null,
  error: string | null,
): Omit<RoutedOperation, 'atMs' | 'ns' | 'shape' | 'durationMs'> {
  const { host, operation, connectionId } = invocation
  const { staleReplies } = operation
  if (noted !== null) return { ...describeRouted(invocation, noted), staleReplies, error }
  return {
    ...{ mongos: host.context.address, opId: operation.id, connectionId },
    ...{ command: operation.command, shardKey: null, kind: null, shards: [], chunks: 0, bounds: [] },
    ...{ staleReplies, error },
  }
}
