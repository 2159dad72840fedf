/** A file that one of several processes makes while the others wait for it. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from './test-run.js'

const lookAgainMs = 10

export class SharedFile {
  readonly #path: string
  readonly #lock: string

  constructor(folder: string, name: string) {
    this.#path = join(folder, `${name}.snapshot`)
    this.#lock = join(folder, `${name}.lock`)
  }

  /**
   * @param write writes the file at the path it is given; called in one process at most, unless it
   *   fails
   * @returns the path of the file
   */
  async get(write: (path: string) => Promise<void>): Promise<string> {
    for (;;) {
      if (existsSync(this.#path)) return this.#path
      if (this.#lockFile()) break
      await sleep(lookAgainMs)
    }
    try {
      // Another process may have finished it between the look and the lock.
      if (existsSync(this.#path)) return this.#path
      const temporary = `${this.#path}.${process.pid}`
      await write(temporary)
      // Renamed, so that no process reads half of it.
      renameSync(temporary, this.#path)
      return this.#path
    } finally {
      rmSync(this.#lock, { force: true })
    }
  }

  #lockFile(): boolean {
    try {
      writeFileSync(this.#lock, String(process.pid), { flag: 'wx' })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      this.#removeAbandonedLock()
      return false
    }
  }

  #removeAbandonedLock(): void {
    let holder: string
    try {
      holder = readFileSync(this.#lock, 'utf8')
    } catch {
      return
    }
    // Empty: its process is about to write its number.
    if (holder !== '' && !isRunning(Number(holder))) rmSync(this.#lock, { force: true })
  }
}
