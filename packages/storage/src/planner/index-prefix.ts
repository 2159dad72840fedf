/**
 * Of plans with equal score, the planner prefers those whose index prefix the query restricts most.
 * Server: query/index_hint heuristics of 8.0, plan_ranker_util.h.
 */
import { isEverything, isPoint } from '@shardlab/query'
import { stagesOf, type IndexScan, type PlanStage } from '../plans/plan-stage.js'

/** @returns indexes into `plans`; empty if a plan does not scan exactly one index */
export function indexPrefixWinners(plans: readonly PlanStage[]): number[] {
  const scans = plans.map(onlyScan)
  if (scans.length === 0 || scans.some((scan) => scan === null)) return []
  const fits = scans.map((scan) => fitOf(scan!))
  const best = fits.reduce((a, b) => (compareFits(b, a) > 0 ? b : a))
  return fits.flatMap((fit, i) => (compareFits(fit, best) === 0 ? [i] : []))
}

function onlyScan(plan: PlanStage): IndexScan | null {
  const scans = [...stagesOf(plan)].flatMap((stage) => (stage.stage === 'IXSCAN' ? [stage.scan] : []))
  return scans.length === 1 ? scans[0]! : null
}

/** Fields of the index: leading ones fixed to values, leading ones restricted, and unused ones. */
type Fit = readonly [points: number, restricted: number, unused: number]

function fitOf({ bounds: { fields } }: IndexScan): Fit {
  let points = 0
  while (points < fields.length && fields[points]!.intervals.every(isPoint)) points++
  let restricted = points
  while (restricted < fields.length && !isEverything(fields[restricted]!.intervals)) restricted++
  return [points, restricted, fields.length - restricted]
}

function compareFits(a: Fit, b: Fit): number {
  return a[0] - b[0] || a[1] - b[1] || b[2] - a[2]
}
