/** Plays the runs of a swarm in a queue of jobs. */
import { JobLostError, JobTimeoutError, type JobQueue } from '@shardlab/jobs'
import { finding } from './finding.js'
import { planOf } from './plan.js'
import type { SwarmRun, SwarmTask } from './types.js'

export class Players {
  readonly #queue: JobQueue<SwarmTask, SwarmRun>
  readonly #runMsMax: number

  /**
   * @param runMsMax real time after which a run on a worker thread fails: while a member computes
   *   without end, no other limit is noticed
   */
  constructor(queue: JobQueue<SwarmTask, SwarmRun>, runMsMax: number) {
    this.#queue = queue
    this.#runMsMax = runMsMax
  }

  /**
   * @param key of the job; the runs of a seed and their order must depend only on the options of
   *   the swarm, so that one that is resumed finds their results
   * @returns null: withdrawn
   */
  async play(key: string, task: SwarmTask): Promise<SwarmRun | null> {
    try {
      return await this.#queue.run({ key, input: task, msMax: this.#runMsMax })
    } catch (error) {
      if (error instanceof JobTimeoutError)
        return endlessRun(task, `the run did not end within ${this.#runMsMax / 1000} seconds of real time`)
      if (error instanceof JobLostError) return endlessRun(task, 'the run ended each worker that took it')
      throw error
    }
  }

  withdraw(): Promise<void> {
    return this.#queue.withdraw()
  }

  end(): Promise<void> {
    return this.#queue.end()
  }
}

function endlessRun({ seed, reduction }: SwarmTask, sentence: string): SwarmRun {
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
