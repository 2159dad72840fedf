import { isSameViolation } from './same-violation.js'
import { limitNames } from './reduction.js'
import type { Reduction, SwarmPlan, SwarmRun, Violation } from './types.js'

const attemptsMax = 60
/** Of all attempts together: a run that does not end takes long each time. */
const turnsMax = 5_000_000

export interface Shrunk {
  readonly reduction: Reduction
  readonly run: SwarmRun
}

/**
 * Leaves out what the first violation does not need: members of sets, fault verbs and activities,
 * then clients, operations, shards and mongoses.
 * @param failed has a violation
 * @param onAttempt called before each further run
 */
export async function shrink(
  play: (reduction: Reduction) => Promise<SwarmRun>,
  first: Reduction,
  failed: SwarmRun,
  onAttempt: (attempt: number, attemptsMax: number) => void,
): Promise<Shrunk> {
  const violation = failed.violations[0]!
  let smallest: Shrunk = { reduction: first, run: failed }
  let attempts = 0
  let turns = 0
  const fails = async (reduction: Reduction): Promise<boolean> => {
    if (attempts === attemptsMax || turns >= turnsMax) return false
    onAttempt(++attempts, attemptsMax)
    const run = await play(reduction)
    turns += run.turns
    if (!failsLike(run, violation)) return false
    smallest = { reduction, run }
    return true
  }
  /** All at once, or by halves. */
  const leaveOut = async (names: NonNullable<Reduction['without']>): Promise<void> => {
    if (names.length === 0) return
    const { reduction } = smallest
    if (await fails({ ...reduction, without: [...(reduction.without ?? []), ...names] })) return
    if (names.length === 1) return
    const middle = Math.ceil(names.length / 2)
    await leaveOut(names.slice(0, middle))
    await leaveOut(names.slice(middle))
  }
  for (const members of [1, 3])
    if (members < smallest.run.plan.members && (await fails({ ...smallest.reduction, members }))) break
  await leaveOut([...smallest.run.plan.faults, ...smallest.run.plan.activities])
  for (const name of limitNames) {
    // The smallest number that fails: a smaller one may fail although this one does not.
    let passes = 0
    for (let high = sizeOf(smallest.run.plan, name); high - passes > 1;) {
      const middle = passes === 0 ? Math.max(1, Math.floor(high / 4)) : Math.floor((passes + high) / 2)
      if (await fails({ ...smallest.reduction, [name]: middle })) high = middle
      else passes = middle
    }
  }
  return smallest
}

/** Later violations may follow from the first one. */
function failsLike({ violations: [first] }: SwarmRun, violation: Violation): boolean {
  return first !== undefined && isSameViolation(first, violation)
}

function sizeOf(plan: SwarmPlan, name: (typeof limitNames)[number]): number {
  switch (name) {
    case 'clients':
      return plan.workers
    case 'steps':
      return plan.stepsOfWorker
    default:
      return plan[name]
  }
}
