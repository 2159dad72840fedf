/**
 * The file by which two processes do not use one directory. It has the number of the process and,
 * where the system tells, when the process started: numbers are used again.
 *
 * A process that makes the file `lock` makes a file `lock.held.<id>` and looks for others of these.
 * The file `lock` alone is not enough. A process removes the lock of a process that was killed; if
 * a third process has just replaced that lock, the new one is removed. A file with an id is safe:
 * its holder removes it, or another process after the holder's end.
 */
import { randomBytes } from 'node:crypto'
import {
  constants,
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { OptionError } from '../option-error.js'

const lockName = 'lock'
const heldPrefix = 'lock.held.'

interface Holder {
  /** Of this lock alone. */
  readonly id: string
  readonly pid: number
  /** Null: the system does not tell. */
  readonly startedAt: string | null
  readonly host: string
  /** In which `pid` is a number: each container has its own. Null: the system has none. */
  readonly namespace: string | null
  /** Number of the directory in its file system: a copy of the directory has another one. */
  readonly inode: number
}

/**
 * @returns releases the lock
 * @throws OptionError another process, or another cluster of this one, has the directory
 * @throws Error of the file system; no file is left
 */
export function lockDirectory(directory: string): () => void {
  const lock = new DirectoryLock(directory)
  const steps = lock.acquire()
  while (steps.next().done !== true) continue
  return () => lock.release()
}

export class DirectoryLock {
  readonly #directory: string
  readonly #path: string
  readonly #heldPath: string
  readonly #own: Holder

  constructor(directory: string) {
    const id = `${process.pid}.${randomBytes(6).toString('hex')}`
    this.#directory = directory
    this.#path = `${directory}/${lockName}`
    this.#heldPath = `${directory}/${heldPrefix}${id}`
    this.#own = {
      id,
      pid: process.pid,
      startedAt: startOf(process.pid),
      host: hostname(),
      namespace: namespaceOfProcesses(),
      inode: statSync(directory).ino,
    }
  }

  /**
   * Ends when the directory is locked. Other processes may do anything at each `yield`.
   * @throws OptionError, Error of the file system
   */
  *acquire(): Generator<void, void, void> {
    const temporary = `${this.#path}.${this.#own.id}`
    try {
      this.#write(temporary)
      while (!linked(temporary, this.#path)) {
        const holder = holderIn(this.#path)
        if (holder) this.#refuseIfHeld(holder)
        yield
        // Another process may have replaced it; then the files of the holders decide.
        if (holder !== undefined) rmSync(this.#path, { force: true })
        yield
      }
      yield
      this.#write(this.#heldPath)
      yield
      this.#refuseIfOthersHold()
    } catch (error) {
      this.release()
      throw error
    } finally {
      rmSync(temporary, { force: true })
    }
  }

  /** Of two processes that have made the lock, the later one is refused, or both. */
  #refuseIfOthersHold(): void {
    for (const name of readdirSync(this.#directory).filter((each) => each.startsWith(heldPrefix))) {
      const path = `${this.#directory}/${name}`
      // One that is not whole is being written by a process that will find the own one.
      const holder = path === this.#heldPath ? null : holderIn(path)
      if (!holder) continue
      this.#refuseIfHeld(holder)
      rmSync(path, { force: true })
    }
  }

  release(): void {
    rmSync(this.#heldPath, { force: true })
    const holder = holderIn(this.#path)
    if (holder && isSame(holder, this.#own)) rmSync(this.#path, { force: true })
  }

  #write(path: string): void {
    writeFileSync(path, `${JSON.stringify(this.#own)}\n`, { mode: 0o600 })
  }

  #refuseIfHeld(holder: Holder): void {
    const own = this.#own
    if (holder.inode !== own.inode) return
    if (isForeign(holder, own)) {
      const place = holder.host === own.host ? 'in another container' : `on ${holder.host}`
      throw new OptionError(
        `${this.#directory} is in use by process ${holder.pid} ${place}: stop it first, or delete ${this.#path} and ${this.#directory}/${heldPrefix}* if it no longer runs.`,
      )
    }
    if (isAlive(holder))
      throw new OptionError(
        `${this.#directory} is in use by process ${holder.pid}: stop it first, or choose another directory.`,
      )
  }
}

/** @returns false: there is such a file */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS') return copied(from, to)
    throw error
  }
}

/** Where files cannot have two names. Others may see a part of it. */
function copied(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Null: the file is incomplete. Undefined: the file does not exist. */
function holderIn(path: string): Holder | null | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : null
  }
}

function isSame(one: Holder, other: Holder): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Its process cannot be seen from here, so it counts as alive. */
function isForeign(holder: Holder, own: Holder): boolean {
  if (holder.host !== own.host) return true
  return holder.namespace !== null && own.namespace !== null && holder.namespace !== own.namespace
}

function isAlive({ pid, startedAt }: Holder): boolean {
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

/** Of Linux. */
function namespaceOfProcesses(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}
