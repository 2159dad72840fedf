import type { RemoteHost } from './remote-host.js'

/** A thread that answers nothing for so long is occupied by a computation. */
const occupiedAfterMs = 400
const betweenPingsMs = 100

/**
 * Waits until the work has settled. Ends earlier when the worker's thread is occupied, so that it
 * cannot do the work, or after `timeoutMs`.
 * @returns false: the work has not settled
 */
export async function settledBy(
  remote: Pick<RemoteHost, 'ping'>,
  work: Promise<unknown>,
  timeoutMs = Infinity,
): Promise<boolean> {
  const end = work.then(ignore, ignore)
  const untilMs = performance.now() + timeoutMs
  while (performance.now() < untilMs) {
    if (await atMost(betweenPingsMs, end)) return true
    const { answer, sentAtMs } = remote.ping()
    const leftMs = sentAtMs + occupiedAfterMs - performance.now()
    if (!(await atMost(leftMs, Promise.race([end, answer])))) return false
  }
  return false
}

const ignore = (): void => {}

/** @returns whether the work settled in time */
async function atMost(durationMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, Math.max(durationMs, 0), false)
  })
  const inTime = await Promise.race([work.then(() => true), timeout])
  clearTimeout(timer)
  return inTime
}
