/**
 * Ranks candidate plans: each runs for a number of works, in turns, and the plan with the most rows
 * per work wins. Server: exec/multi_plan.cpp, query/plan_ranker.cpp, plan_ranker_util.h.
 */
import { stagesOf, type PlanStage } from '../plans/plan-stage.js'
import type { PlanTrial, QueryPlan } from '../plans/query-plan.js'
import { buildStages } from '../stages/build-stages.js'
import { advanced, allStages, endOfRows, type Stage } from '../stages/stage.js'
import { indexPrefixWinners } from './index-prefix.js'

/** The server's `internalQueryPlanEvaluationWorks`, `…CollFraction` and `…MaxResults`. */
const trialWorks = 10_000
const trialFraction = 0.3
const trialResults = 101

/** Breaks ties between plans of equal score. */
const bonus = 1e-5

/** @returns the trials of all candidates, the best first */
export function rank(
  plan: Pick<QueryPlan, 'collection' | 'strings'>,
  candidates: readonly PlanStage[],
  limit: number,
): PlanTrial[] {
  const stages = candidates.map((root) =>
    buildStages(plan, root, { sortMemoryBytes: Infinity, allowDiskUse: true, rowFilter: null }),
  )
  runTrials(
    stages,
    Math.max(trialWorks, Math.floor(trialFraction * plan.collection.count)),
    limit > 0 ? Math.min(limit, trialResults) : trialResults,
  )
  const scores = stages.map((root) => scoreOf(root) + (root.isEof ? 1 : 0))
  const order = scores.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]! || a - b)
  const tied = order.filter((i) => scores[i] === scores[order[0]!])
  if (tied.length > 1) {
    const examined = tied.map((i) => documentsExamined(stages[i]!))
    const fewest = Math.min(...examined)
    const prefixes = indexPrefixWinners(tied.map((i) => candidates[i]!))
    tied.forEach(
      (i, j) => (scores[i]! += (examined[j] === fewest ? bonus : 0) + (prefixes.includes(j) ? 2 * bonus : 0)),
    )
    order.sort((a, b) => scores[b]! - scores[a]! || a - b)
  }
  return order.map((i) => ({ root: stages[i]!, score: scores[i]! }))
}

function runTrials(stages: readonly Stage[], works: number, results: number): void {
  for (let i = 0; i < works; i++) {
    let isOver = false
    for (const stage of stages) {
      const state = stage.work()
      if (state === endOfRows || (state === advanced && stage.rows >= results)) isOver = true
    }
    if (isOver) return
  }
}

function scoreOf(root: Stage): number {
  const epsilon = Math.min(1 / (10 * root.works), 1e-4)
  const has = (...names: readonly string[]): boolean =>
    [...stagesOf(root.plan)].some(({ stage }) => names.includes(stage))
  const projects = has('PROJECTION_SIMPLE', 'PROJECTION_COVERED', 'PROJECTION_DEFAULT')
  const noFetchBonus = projects && has('FETCH') ? 0 : epsilon
  const noSortBonus = has('SORT') ? 0 : epsilon
  // Every plan gets the bonus for not intersecting indexes, because none does.
  return 1 + root.rows / root.works + noFetchBonus + noSortBonus + epsilon
}

function documentsExamined(root: Stage): number {
  let examined = 0
  for (const stage of allStages(root)) examined += stage.docsExamined
  return examined
}
