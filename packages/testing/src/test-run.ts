/** Which processes belong to one run of tests. */
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

export interface TestRun {
  /** Shared by the processes of the run. */
  readonly folder: string
  /** Whether a test runner may have started this process as one of several. */
  readonly hasSeveralProcesses: boolean
}

let known: TestRun | null = null

/** `SHARDLAB_TEST_RUN` names it; default: the process of the runner. */
export function currentRun(): TestRun {
  known ??= findRun()
  return known
}

function findRun(): TestRun {
  const given = process.env['SHARDLAB_TEST_RUN']
  const hasSeveralProcesses = given !== undefined || isWorker() || !isMainThread
  const name = given ?? String(isWorker() ? process.ppid : process.pid)
  const runs = join(tmpdir(), `shardlab-${userInfo().uid}`, 'test-runs')
  const folder = join(runs, encodeURIComponent(name))
  if (hasSeveralProcesses) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
    const { uid } = statSync(folder)
    if (process.getuid !== undefined && uid !== process.getuid())
      throw new Error(`${folder} belongs to another user: remove it.`)
    removeEnded(runs)
  }
  return { folder, hasSeveralProcesses }
}

/** Runners set these variables, or open a channel to the processes that they start. */
function isWorker(): boolean {
  return process.send !== undefined || process.env['NODE_TEST_CONTEXT'] !== undefined || process.env['TAP'] === '1'
}

/** Folders of runs whose process has ended. */
function removeEnded(runs: string): void {
  for (const name of readdirSync(runs)) {
    const pid = Number(name)
    if (Number.isInteger(pid) && !isRunning(pid)) rmSync(join(runs, name), { recursive: true, force: true })
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
