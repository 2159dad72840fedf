import type { Anomaly } from './cells.js'

/** Of a register that holds the numbers of all writes that it has seen. */
export interface ReadEvent {
  readonly beganMs: number
  /** One for each copy of the register. */
  readonly copies: readonly (readonly number[])[]
}

export interface WriteHistory {
  /** When each acknowledged write was acknowledged, by number. */
  readonly acknowledgedMs: ReadonlyMap<number, number>
  /** The writes that are there in the end. */
  readonly kept: ReadonlySet<number>
}

/** @param reads of one client, one after the other */
export function anomaliesOf(reads: readonly ReadEvent[], { acknowledgedMs, kept }: WriteHistory): Set<Anomaly> {
  const found = new Set<Anomaly>()
  const isLost = [...acknowledgedMs.keys()].some((write) => !kept.has(write))
  if (isLost) found.add('lost')
  const seen = new Set<number>()
  for (const { beganMs, copies } of reads) {
    if (copies.length > 1) found.add('orphan')
    const returned = new Set(copies.flat())
    if ([...returned].some((write) => !kept.has(write))) found.add('dirty')
    for (const [write, atMs] of acknowledgedMs)
      if (atMs <= beganMs && kept.has(write) && !returned.has(write)) found.add('stale')
    if ([...seen].some((write) => !returned.has(write))) found.add('backwards')
    for (const write of returned) seen.add(write)
  }
  return found
}
