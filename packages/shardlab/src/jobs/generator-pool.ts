import type { JobQueue } from '@shardlab/jobs'
import type { GeneratorPool } from '@shardlab/load'

/** Generators of a load test in a queue of jobs. */
export function generatorPool(queue: JobQueue<unknown, unknown>): GeneratorPool {
  let opened = 0
  return {
    open(options, onMessage) {
      const key = String(opened++)
      return { result: queue.run({ key, input: options, onMessage }), post: (message) => queue.post(key, message) }
    },
  }
}
