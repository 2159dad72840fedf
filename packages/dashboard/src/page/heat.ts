/** How the operations on a collection are spread over its chunks, by samples of the routers. */
import type { LiveChunk, LiveOperations } from '../stream/deltas.js'
import { placeOf } from '../stream/live-state.js'

export interface Heat {
  /** Of each chunk its share of the operations; together 1, or 0 without operations. */
  readonly shares: Float64Array
  /** The largest of them. */
  readonly most: number
}

/**
 * Operations that went to one place count there; those with several bounds count for each of them
 * in equal parts. Broadcasts say nothing about chunks.
 */
export function heatOf(ns: string, chunks: readonly LiveChunk[], events: readonly LiveOperations[]): Heat {
  const shares = new Float64Array(chunks.length)
  let sum = 0
  for (const { shapes, samples } of events) {
    const operations = shapes.reduce((total, each) => total + each.operations, 0)
    for (const { ns: of, keys } of samples) {
      if (of !== ns || keys.length === 0) continue
      // The samples stand for all operations of their event.
      const weight = operations / samples.length / keys.length
      for (const [low, high] of keys) {
        const [from, to] = [chunkAt(chunks, low), chunkAt(chunks, high)]
        if (from < 0) continue
        for (let place = from; place <= to; place++) shares[place]! += weight / (to - from + 1)
        sum += weight
      }
    }
  }
  if (sum > 0) for (let place = 0; place < shares.length; place++) shares[place]! /= sum
  return { shares, most: shares.reduce((most, share) => Math.max(most, share), 0) }
}

/** The chunk in which a key is; -1: before all. */
function chunkAt(chunks: readonly LiveChunk[], key: string): number {
  const place = placeOf(chunks, key)
  return chunks[place]?.key === key ? place : place - 1
}

let known: { readonly what: string; readonly heat: Heat } | null = null

/** {@link heatOf}, computed again only after a change. @param id equal ids mean equal chunks */
export function knownHeatOf(
  ns: string,
  { id, chunks }: { readonly id: string; readonly chunks: readonly LiveChunk[] },
  events: readonly LiveOperations[],
): Heat {
  const last = events.at(-1)
  const what = JSON.stringify([ns, id, events.length, last?.atMs, last?.mongos])
  if (known?.what !== what) known = { what, heat: heatOf(ns, chunks, events) }
  return known.heat
}
