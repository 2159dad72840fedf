/**
 * The file by which two processes do not use one directory. It has the number of the process and,
 * where the system tells, when the process started: numbers are used again.
 */
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { OptionError } from '../option-error.js'

const lockName = 'lock'

interface Holder {
  readonly pid: number
  /** Null: the system does not tell. */
  readonly startedAt: string | null
  readonly host: string
  /** Number of the directory in its file system: a copy of the directory has another one. */
  readonly inode: number
}

/**
 * @returns releases the lock
 * @throws OptionError another process, or another cluster of this one, has the directory
 */
export function lockDirectory(directory: string): () => void {
  const path = `${directory}/${lockName}`
  const inode = statSync(directory).ino
  const own: Holder = { pid: process.pid, startedAt: startOf(process.pid), host: hostname(), inode }
  while (!created(path, own)) {
    const holder = holderIn(path)
    if (holder?.inode === inode && (isSame(holder, own) || isAlive(holder, own)))
      throw new OptionError(
        holder.host === own.host
          ? `${directory} is in use by process ${holder.pid}: stop it first, or choose another directory.`
          : `${directory} is in use by process ${holder.pid} on ${holder.host}: stop it first, or delete ${path} if it no longer runs.`,
      )
    takeAway(path, holder)
  }
  return () => {
    const holder = holderIn(path)
    if (holder !== null && isSame(holder, own)) rmSync(path, { force: true })
  }
}

function created(path: string, own: Holder): boolean {
  let fd: number
  try {
    fd = openSync(path, 'wx')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  writeSync(fd, `${JSON.stringify(own)}\n`)
  closeSync(fd)
  return true
}

/** Null: there is none, or its process ended while it wrote the file. */
function holderIn(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder
  } catch {
    return null
  }
}

/** Only the lock of that holder: another process may have replaced it meanwhile. */
function takeAway(path: string, holder: Holder | null): void {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const taken = holderIn(aside)
  if (taken !== null && (holder === null || !isSame(taken, holder))) renameSync(aside, path)
  else rmSync(aside, { force: true })
}

function isSame(one: Holder, other: Holder): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function isAlive({ pid, startedAt, host }: Holder, own: Holder): boolean {
  if (host !== own.host) return true
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return startedAt === null || startOf(pid) === startedAt
}

/** Of Linux: clock ticks since the machine started, with the number of this start. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program may have spaces.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!
    return `${ticks} ${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}`
  } catch {
    return null
  }
}
