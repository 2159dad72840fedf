/** A warning for a program that cannot end because it has not stopped a cluster. */

interface RunningCluster {
  readonly id: string
  /** Sockets on which it listens in this thread. */
  readonly listeners: () => number
}

/** Two checks in a row have to find nothing else, since a program may be between two operations. */
const checkMs = 2000

/** Standard streams and what a cluster needs for its threads. */
const harmless: ReadonlySet<string> = new Set(['PipeWrap', 'TTYWrap', 'MessagePort', 'CloseReq'])

const running = new Set<RunningCluster>()
const warned = new Set<RunningCluster>()
let timer: NodeJS.Timeout | null = null
let wasIdle = false

/** @returns a function to call when the cluster is stopped */
export function warnIfForgotten(cluster: RunningCluster): () => void {
  running.add(cluster)
  timer ??= setInterval(check, checkMs).unref()
  return () => {
    running.delete(cluster)
    warned.delete(cluster)
    if (running.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
    wasIdle = false
  }
}

/**
 * Whether only these clusters keep the process alive. `resources`: of `getActiveResourcesInfo`.
 * `connected`: a parent process may send messages at any time.
 */
export function isKeptByClusters(
  resources: readonly string[],
  clusters: Iterable<RunningCluster>,
  connected = false,
): boolean {
  if (connected) return false
  let own = 0
  for (const { listeners } of clusters) own += listeners()
  const others = resources.filter((name) => !harmless.has(name))
  return others.length <= own && others.every((name) => name === 'TCPServerWrap')
}

function check(): void {
  const isIdle = isKeptByClusters(process.getActiveResourcesInfo(), running, process.connected)
  if (isIdle && wasIdle) for (const cluster of running) warn(cluster)
  wasIdle = isIdle
}

function warn(cluster: RunningCluster): void {
  if (warned.has(cluster)) return
  warned.add(cluster)
  process.emitWarning(
    `only the cluster ${cluster.id} keeps this process alive: call its stop(), or start it with 'await using'.`,
    'ShardlabWarning',
  )
}
