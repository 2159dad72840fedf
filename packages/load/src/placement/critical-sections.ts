/**
 * Finds operations that overlapped a critical section, from the journal and from
 * `config.changelog`, where a donor's `moveChunk.from` lists the duration of each step (server:
 * `MoveTimingHelper`; the last two of six are the critical section and the commit).
 */
import type { Document } from 'mongodb'
import { encode, encodeKeyString, fieldsOf, hashedKeyValue, toRawValue } from '@shardlab/bson'
import { nowUs } from '../run/clock.js'
import type { Control } from '../run/control.js'
import { newHistogram, note, type Histogram } from '../run/histograms.js'
import type { Journal } from '../run/journal.js'
import type { Schedule } from '../workload/schedule.js'
import type { PlacementData } from './placement.js'

export interface CriticalSection {
  /** On the clock of this process. */
  readonly fromUs: number
  readonly toUs: number
  /** KeyStrings of the chunk's bounds. */
  readonly min: string
  readonly max: string
}

/**
 * Rejects with the server's error.
 * @param sinceUs on this process's clock
 */
export async function readCriticalSections(
  { client }: Control,
  ns: string,
  sinceUs: number,
): Promise<CriticalSection[]> {
  const beforeUs = nowUs()
  const hello = await client.db('admin').command({ hello: 1 })
  if (!(hello['localTime'] instanceof Date)) throw new Error('its hello has no localTime')
  // The server's clock on ours, measured at half the round trip.
  const serverMsAtZero = hello['localTime'].getTime() - (beforeUs + nowUs()) / 2000
  const since = new Date(serverMsAtZero + sinceUs / 1000)
  const entries = await client
    .db('config')
    .collection('changelog')
    .find({ what: 'moveChunk.from', ns, time: { $gte: since }, 'details.note': 'success' }, { promoteValues: false })
    .toArray()
  return entries.map((entry) => {
    const details = entry['details'] as Document
    const steps = Object.entries(details).filter(([name]) => /^step \d+ of \d+$/.test(name))
    const lengthMs = steps.slice(-2).reduce((sum, [, ms]) => sum + Number(ms), 0)
    const toUs = ((entry['time'] as Date).getTime() - serverMsAtZero) * 1000
    const bound = (document: Document): string => encodeKeyString(fieldsOf(encode(document)).map(([, value]) => value))
    return {
      fromUs: toUs - lengthMs * 1000,
      toUs,
      min: bound(details['min'] as Document),
      max: bound(details['max'] as Document),
    }
  })
}

/**
 * Latencies of operations that overlapped a critical section of their key, or of any key if they
 * read everything.
 */
export function latenciesInCriticalSections(
  sections: readonly CriticalSection[],
  schedule: Schedule,
  journal: Journal,
  placement: PlacementData,
  cycles: { readonly from: number; readonly to: number },
): Histogram {
  const histogram = newHistogram()
  if (sections.length === 0 || placement.key === null) return histogram
  const { template } = schedule.workload
  for (let cycle = cycles.from; cycle < cycles.to; cycle++) {
    const startUs = journal.startUs(cycle)
    if (startUs === 0) continue
    const endUs = journal.endUs(cycle)
    const overlapping = sections.filter(({ fromUs, toUs }) => startUs < toUs && endUs > fromUs)
    if (overlapping.length === 0) continue
    const { operation, key } = schedule.plan(cycle)
    const byKey = operation.newRecords === 1 || placement.key.every(({ field }) => operation.by.includes(field))
    const keyString = !byKey
      ? null
      : encodeKeyString(
          placement.key.map(({ field, hashed }) => {
            const value = toRawValue(template.value(field, key))
            return hashed ? hashedKeyValue(value) : value
          }),
        )
    if (overlapping.some(({ min, max }) => keyString === null || (min <= keyString && keyString < max)))
      note(histogram, endUs - startUs)
  }
  return histogram
}
