import type { Choose } from './scheduler.js'

export interface Explored {
  /** States that differ in a document, or in something that a client has seen. */
  readonly states: number
  readonly runs: number
  /** False: `maxStates` was reached. */
  readonly complete: boolean
}

/**
 * Visits every reachable state once, depth first. An asynchronous program cannot be copied, so each
 * branch is played from the beginning. `play` calls `isNew` with the key of each state that it
 * reaches, and ends when the answer is false.
 */
export async function everyState(
  play: (choose: Choose, isNew: (key: string) => boolean) => Promise<void>,
  maxStates = Infinity,
): Promise<Explored> {
  const seen = new Set<string>()
  const path: { choice: number; count: number }[] = []
  for (let runs = 1; ; runs++) {
    let depth = 0
    await play(
      (count) => {
        if (depth === path.length) path.push({ choice: 0, count })
        return path[depth++]!.choice
      },
      (key) => {
        // On the way to the branch, all states are known.
        if (depth < path.length) return true
        if (seen.has(key)) return false
        seen.add(key)
        return true
      },
    )
    path.length = depth
    while (path.length > 0 && path.at(-1)!.choice + 1 === path.at(-1)!.count) path.pop()
    if (path.length === 0) return { states: seen.size, runs, complete: true }
    if (seen.size >= maxStates) return { states: seen.size, runs, complete: false }
    path.at(-1)!.choice++
  }
}
