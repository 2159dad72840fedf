/**
 * Scans the points of an index separately and merges the results: with an index on {a, b}, {a:
 * {$in: [1, 2]}} sorted by b is two sorted scans. Server: planner_analysis.cpp (explodeForSort).
 */
import { isPoint, type Interval, type KeyFieldBounds, type SortPattern } from '@shardlab/query'
import type { IndexScan } from '../plans/plan-stage.js'
import { orderOf } from './access-path.js'

/** The server's `internalQueryMaxScansToExplode`. */
const maxScans = 200

/** @returns disjoint scans in the requested order; null: none or too many */
export function explode(scan: IndexScan, sort: SortPattern): IndexScan[] | null {
  const { entry, bounds } = scan
  if (entry.index.collation !== null) return null
  let prefixes: Interval[][] = [[]]
  let exploded = 0
  for (const { intervals } of bounds.fields) {
    if (intervals.length === 0 || !intervals.every(isPoint) || entry.multikeyPaths[exploded]!.size > 0) break
    prefixes = prefixes.flatMap((prefix) => intervals.map((interval) => [...prefix, interval]))
    if (prefixes.length > maxScans) return null
    exploded++
  }
  if (exploded === 0 || exploded === bounds.fields.length || prefixes.length < 2) return null
  const scans = prefixes.map((prefix): IndexScan => {
    const fields = bounds.fields.map((field, i): KeyFieldBounds =>
      i < exploded ? { ...field, intervals: [prefix[i]!] } : field,
    )
    return { ...scan, bounds: { fields } }
  })
  const order = orderOf(entry, scans[0]!.bounds, sort)
  // The merged order does not include a field that had several points.
  const sortsByExploded = sort.parts.some(({ path }) =>
    entry.pattern.slice(0, exploded).some((field) => field.path === path.dotted),
  )
  if (order === 0 || sortsByExploded) return null
  return scans.map((one) => ({ ...one, reverse: order === -1 }))
}
