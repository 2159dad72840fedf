import type { Players } from './players.js'
import type { SwarmTask } from './swarm-task.js'
import type { SwarmRun } from './types.js'

/** @returns the verbs left out, and the run without them */
export async function shrink(
  players: Players,
  task: SwarmTask,
  failed: SwarmRun,
): Promise<{ readonly task: SwarmTask; readonly run: SwarmRun }> {
  const [{ checker }] = failed.violations as [SwarmRun['violations'][number]]
  let smallest = { task, run: failed }
  /** Leaves out as many of these as possible: all at once, or by halves. */
  const leaveOut = async (verbs: SwarmTask['without']): Promise<void> => {
    if (verbs.length === 0) return
    const without = [...smallest.task.without, ...verbs]
    const run = await players.play({ ...task, without })
    if (run.violations[0]?.checker === checker) {
      smallest = { task: { ...task, without }, run }
      return
    }
    if (verbs.length === 1) return
    const middle = Math.ceil(verbs.length / 2)
    await leaveOut(verbs.slice(0, middle))
    await leaveOut(verbs.slice(middle))
  }
  await leaveOut(failed.plan.faults)
  return smallest
}
