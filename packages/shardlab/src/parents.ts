/**
 * The processes that started this one. Launchers between a program and its cluster, npx and the
 * shell that npx starts, forward no signal when they are killed, so the chain up to the program is
 * watched.
 */
import { fstatSync, readFileSync } from 'node:fs'

interface Ancestor {
  readonly pid: number
  /** null: unknown on this system. */
  readonly parent: number | null
  readonly session: number | null
  readonly command: readonly string[]
}

/** As often as a parent is looked for: one small read for each process of the chain. */
const checkMs = 250

/**
 * Calls `onEnd` once when one of the processes that started this one has ended.
 * @param withProgram also watch the program that started the launchers, and standard input; false:
 *   only npm and what it started, which have no purpose without this process
 */
export function watchParents(withProgram: boolean, onEnd: () => void): void {
  const chain = chainAbove(withProgram)
  if (withProgram && wasAdopted(chain)) return onEnd()
  const stop = onceOnly(() => {
    clearInterval(timer)
    onEnd()
  })
  const pids = chain.map(({ pid }) => pid)
  const timer = setInterval(() => {
    if (!isIntact(pids)) stop()
  }, checkMs)
  timer.unref()
  if (pids.length === 0) clearInterval(timer)
  if (withProgram && isPipe(0)) {
    // The system closes the other end when its owner ends, for whatever reason.
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, stop)
    process.stdin.resume()
  }
}

/** The launchers above this process; `withProgram`: also the program that started them. */
function chainAbove(withProgram: boolean): Ancestor[] {
  const chain: Ancestor[] = []
  for (let pid: number | null = process.ppid; pid !== null && pid > 0;) {
    const ancestor: Ancestor | null = ancestorOf(pid)
    if (ancestor === null) break
    chain.push(ancestor)
    if (!isLauncher(ancestor)) break
    pid = ancestor.parent
  }
  if (withProgram) return chain
  return chain.slice(0, chain.findLastIndex(isPackageManager) + 1)
}

/** Whether each process is still the child of the next one; one whose parent ends gets another. */
function isIntact(pids: readonly number[]): boolean {
  if (process.ppid !== pids[0]) return false
  for (let i = 0; i < pids.length - 1; i++) {
    const parent = ancestorOf(pids[i]!)?.parent
    if (parent !== undefined && parent !== pids[i + 1]) return false
  }
  return true
}

/**
 * The program ended before this process looked for it: its place is taken by a process of another
 * session, such as init. Where the session was made on purpose, for a detached process, that cannot
 * be told.
 */
function wasAdopted(chain: readonly Ancestor[]): boolean {
  const session = ancestorOf(process.pid)?.session ?? null
  if (session === null || session === process.pid) return false
  const program = chain.at(-1)
  const isDetached = chain.slice(0, -1).some(({ pid }) => pid === session)
  return program?.session !== session && program?.session !== null && !isDetached
}

function isPackageManager({ command: [program = '', script = ''] }: Ancestor): boolean {
  const isOne = (path: string): boolean =>
    /^(npm|npx|pnpm|pnpx|yarn|bunx)\b/.test(path.slice(path.lastIndexOf('/') + 1))
  return isOne(program) || isOne(script)
}

function isLauncher(ancestor: Ancestor): boolean {
  const [program = '', option] = ancestor.command
  return isPackageManager(ancestor) || (/(^|\/)(sh|bash|dash|zsh|ash)$/.test(program) && option === '-c')
}

/** Linux shows other processes as files; elsewhere only the direct parent is known. */
function ancestorOf(pid: number): Ancestor | null {
  if (process.platform !== 'linux')
    return pid === process.ppid ? { pid, parent: null, session: null, command: noCommand } : null
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may contain anything.
    const [, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0 ]/)
    return { pid, parent: Number(parent), session: Number(session), command }
  } catch {
    return null
  }
}

const noCommand: readonly string[] = []

function isPipe(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor)
    return stats.isFIFO() || stats.isSocket()
  } catch {
    return false
  }
}

function onceOnly(run: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    run()
  }
}
