/** On worker threads, each run in a world of its own, or in this thread. */
import { Piscina } from 'piscina'
import { finding } from './finding.js'
import { planOf } from './plan.js'
import { playSwarmTask, type SwarmTask } from './swarm-task.js'
import type { SwarmRun } from './types.js'

export interface Players {
  play(task: SwarmTask): Promise<SwarmRun>
  end(): Promise<void>
}

/** For debuggers: a member that computes without end leaves this thread no turn for signals. */
export const inThisThread: Players = { play: playSwarmTask, async end() {} }

/**
 * @param runMsMax real time after which a run on a worker thread fails: while a member computes
 *   without end, no other limit is noticed
 */
export function createPlayers(threads: number, runMsMax: number): Players {
  // Loaders of the caller, such as a test runner's, would run in each thread.
  const filename = new URL('./swarm.worker.js', import.meta.url).href
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, execArgv: [] })
  return {
    async play(task) {
      const cancellation = new AbortController()
      const alarm = setTimeout(() => cancellation.abort(), runMsMax)
      try {
        return (await pool.run(task, { signal: cancellation.signal })) as SwarmRun
      } catch (error) {
        if (!cancellation.signal.aborted) throw error
        return endlessRun(task, runMsMax)
      } finally {
        clearTimeout(alarm)
      }
    },
    end: () => pool.destroy(),
  }
}

function endlessRun({ seed, reduction }: SwarmTask, runMsMax: number): SwarmRun {
  const sentence = `the run did not end within ${runMsMax / 1000} seconds of real time`
  return {
    seed,
    plan: planOf(seed, reduction),
    violations: [{ checker: 'answers', ...finding(sentence, null) }],
    traceHash: '',
    timeline: [],
    steps: {},
    verbs: {},
    acknowledged: 0,
    unknown: 0,
    done: {},
    virtualMs: 0,
    turns: Infinity,
  }
}
