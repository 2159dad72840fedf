/** The life of the process: signals, the ends of the emulated server, exit codes, the pid file. */
import type { ClusterEvent } from '@shardlab/cluster'
import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerLog } from './server-log.js'
import { ServerStartError, serverExitCodes } from './server-error.js'

const signals = { SIGINT: [2, 'Interrupt'], SIGTERM: [15, 'Terminated'], SIGHUP: [1, 'Hangup'] } as const

/** Busy connections are closed after this time, so that tools do not wait. */
const stopGraceMs = 800

export class ServerProcess {
  readonly #log: ServerLog
  readonly #pidFilePath: string | null
  #stop: () => Promise<void> = async () => {}
  /** Until then the caller of the start receives errors. */
  #isRunning = false
  #isEnding = false

  /** @throws ServerStartError the pid file cannot be written */
  constructor(log: ServerLog, { pidFilePath }: { readonly pidFilePath: string | null }) {
    this.#log = log
    this.#pidFilePath = pidFilePath
    // Tools close the pipe once the server is ready.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
    for (const name of Object.keys(signals) as (keyof typeof signals)[])
      process.on(name, () => void this.#signalled(name))
    if (pidFilePath !== null) writePidFile(pidFilePath)
  }

  stopWith(stop: () => Promise<void>): void {
    this.#stop = stop
    this.#isRunning = true
  }

  note(event: ClusterEvent): void {
    if (event.type === 'member-state') this.#noteTransition(event)
    else if (event.type === 'member' && event.state === 'crashed') void this.#ended(event.error ?? null)
    else if (event.type === 'log' && this.#isLogged(event.level))
      this.#log.add({
        ...{ severity: event.level === 'error' ? 'E' : 'W', component: 'CONTROL', id: 4757800, context: 'main' },
        ...{ message: event.message, attributes: event.fields },
      })
  }

  /** Warnings of the start are about files that a crash has left. */
  #isLogged(level: string): boolean {
    return this.#isRunning ? level === 'error' : level === 'warn'
  }

  noteWritable(): void {
    this.#log.add({
      ...{ component: 'REPL', id: 21331, context: 'OplogApplier-0' },
      message: 'Transition to primary complete; database writes are now permitted',
    })
  }

  exit(exitCode: number): void {
    this.#isEnding = true
    this.#log.add({
      ...{ component: 'CONTROL', id: 23138, context: 'main', message: 'Shutting down' },
      attributes: { exitCode },
    })
    this.#log.close()
    if (this.#pidFilePath !== null) rmSync(this.#pidFilePath, { force: true })
    process.exit(exitCode)
  }

  #noteTransition({ from, to }: { readonly from: string; readonly to: string }): void {
    this.#log.add({
      ...{ component: 'REPL', id: 21358, context: 'ReplCoord-0', message: 'Replica set state transition' },
      attributes: { newState: to, oldState: from },
    })
  }

  async #signalled(name: keyof typeof signals): Promise<void> {
    if (this.#isEnding) return this.exit(serverExitCodes.clean)
    this.#isEnding = true
    const [signal, error] = signals[name]
    this.#log.add({
      ...{ component: 'CONTROL', id: 23377, context: 'SignalHandler', message: 'Received signal' },
      attributes: { signal, error },
    })
    await this.#stopAndExit()
  }

  /** @param error null: the command `shutdown` */
  async #ended(error: string | null): Promise<void> {
    if (this.#isEnding || !this.#isRunning) return
    this.#isEnding = true
    if (error !== null) return this.#abort(error)
    await this.#stopAndExit()
  }

  async #stopAndExit(): Promise<void> {
    try {
      await Promise.race([this.#stop(), sleep(stopGraceMs)])
    } catch (error) {
      return this.#abort(String((error as Error).message))
    }
    this.exit(serverExitCodes.clean)
  }

  #abort(message: string): void {
    this.#log.add({
      ...{ severity: 'F', component: 'CONTROL', id: 6384300, context: 'main', message: 'Writing fatal message' },
      attributes: { message },
    })
    this.exit(serverExitCodes.abrupt)
  }
}

/** mlaunch and others find processes by their name. The command line stays as it is. */
export function nameProcess(name: string): void {
  try {
    writeFileSync('/proc/self/comm', name)
  } catch {
    // Only Linux has this file. Elsewhere the name cannot be set without the command line.
  }
}

function writePidFile(path: string): void {
  try {
    writeFileSync(path, `${process.pid}\n`)
  } catch (error) {
    throw new ServerStartError(
      serverExitCodes.badOptions,
      `ERROR: Cannot write pid file to ${path}: ${(error as Error).message}`,
    )
  }
}
