/** On worker threads, each run in a world of its own, or in this thread if there is only one. */
import { Piscina } from 'piscina'
import { playSwarmTask, type SwarmTask } from './swarm-task.js'
import type { SwarmRun } from './types.js'

export interface Players {
  play(task: SwarmTask): Promise<SwarmRun>
  end(): Promise<void>
}

export function createPlayers(threads: number): Players {
  if (threads === 1) return { play: playSwarmTask, async end() {} }
  // Loaders of the caller, such as a test runner's, would run in each thread.
  const filename = new URL('./swarm.worker.js', import.meta.url).href
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, execArgv: [] })
  return { play: (task) => pool.run(task) as Promise<SwarmRun>, end: () => pool.destroy() }
}
