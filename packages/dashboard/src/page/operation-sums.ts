/** Rates and sums over the `operations` events that the state has. */
import type { OperationShape, OperationsEvent, RoutedOperation } from '@shardlab/actor'

export const rateNames = ['targeted', 'multi', 'broadcast', 'failed'] as const
export type RateName = (typeof rateNames)[number]

/** Operations a second, for each of the seconds up to the end, oldest first. */
export type Rates = { readonly [Name in RateName]: readonly number[] }

/** An operation that fails counts by its kind, too, if it was routed. */
export function ratesOf(events: readonly OperationsEvent[], endMs: number, seconds: number): Rates {
  const rates = {
    targeted: new Array<number>(seconds).fill(0),
    multi: new Array<number>(seconds).fill(0),
    broadcast: new Array<number>(seconds).fill(0),
    failed: new Array<number>(seconds).fill(0),
  }
  const beginMs = endMs - seconds * 1000
  for (const { fromMs, atMs, shapes } of events) {
    if (atMs <= beginMs) continue
    const spanMs = Math.max(1, atMs - fromMs)
    const spread = (into: number[], operations: number): void => {
      for (let i = Math.max(0, secondOf(atMs - spanMs)); i <= Math.min(seconds - 1, secondOf(atMs - 1)); i++)
        into[i]! += (operations * overlapMs(beginMs + i * 1000, atMs - spanMs, atMs)) / spanMs
    }
    for (const { kind, operations, failed } of shapes) {
      if (kind !== null) spread(rates[kind], operations)
      if (failed > 0) spread(rates.failed, failed)
    }
  }
  return rates

  function secondOf(ms: number): number {
    return Math.floor((ms - beginMs) / 1000)
  }
}

/**
 * Means over the last seconds.
 * @param sinceMs of what happened before, nothing is known
 */
export function meansOf(
  events: readonly OperationsEvent[],
  endMs: number,
  { seconds, sinceMs }: { readonly seconds: number; readonly sinceMs: number },
): Record<RateName, number> {
  const rates = ratesOf(events, endMs, seconds)
  const knownSeconds = Math.min(seconds, Math.max(1, (endMs - sinceMs) / 1000))
  const mean = (name: RateName): number => rates[name].reduce((sum, rate) => sum + rate, 0) / knownSeconds
  return { targeted: mean('targeted'), multi: mean('multi'), broadcast: mean('broadcast'), failed: mean('failed') }
}

const overlapMs = (secondMs: number, fromMs: number, toMs: number): number =>
  Math.max(0, Math.min(secondMs + 1000, toMs) - Math.max(secondMs, fromMs))

/** Of all routers, the slowest on average first. */
export function shapesSince(events: readonly OperationsEvent[], sinceMs: number): OperationShape[] {
  const sums = new Map<string, OperationShape>()
  for (const { atMs, shapes } of events) {
    if (atMs < sinceMs) continue
    for (const shape of shapes) {
      const key = JSON.stringify([shape.command, shape.ns, shape.kind, shape.shape])
      const known = sums.get(key)
      sums.set(key, known === undefined ? shape : sumOf(known, shape))
    }
  }
  return [...sums.values()].sort((a, b) => meanMs(b) - meanMs(a) || b.operations - a.operations)
}

function sumOf(a: OperationShape, b: OperationShape): OperationShape {
  return {
    ...a,
    operations: a.operations + b.operations,
    failed: a.failed + b.failed,
    durationMs: a.durationMs + b.durationMs,
    slowest: b.slowest.durationMs > a.slowest.durationMs ? b.slowest : a.slowest,
  }
}

export const meanMs = ({ durationMs, operations }: OperationShape): number => durationMs / operations

/** Newest first. */
export function samplesOf(events: readonly OperationsEvent[], max: number): RoutedOperation[] {
  const samples: RoutedOperation[] = []
  for (const event of events.toReversed()) {
    samples.push(...event.samples.toReversed())
    if (samples.length >= max) break
  }
  return samples.sort((a, b) => b.atMs - a.atMs || b.opId - a.opId).slice(0, max)
}

/** Operations of each shard in the last ten seconds. */
export function operationsByShard(events: readonly OperationsEvent[], endMs: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { atMs, shards } of events)
    if (atMs >= endMs - 10_000)
      for (const [shard, operations] of shards) counts.set(shard, (counts.get(shard) ?? 0) + operations)
  return counts
}
