/** Processes of `shardlab-mongod` and `shardlab-mongos`. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const serversFolder = fileURLToPath(new URL('../../../../packages/shardlab/bin/servers', import.meta.url))

export interface LoggedLine {
  readonly s: string
  readonly id: number
  readonly msg: string
  readonly attr?: Readonly<Record<string, unknown>>
}

export class StartedServer {
  readonly process: ChildProcess
  readonly lines: LoggedLine[] = []
  stderr = ''
  #text = ''
  #onLine: () => void = () => {}

  constructor(name: 'mongod' | 'mongos', args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.process = spawn(join(serversFolder, name), args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    this.process.stdout!.on('data', (chunk: Buffer) => this.#read(chunk.toString()))
    this.process.stderr!.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()))
  }

  /** The port, once the server waits for connections. */
  async port(): Promise<number> {
    return (await this.line(23016)).attr!['port'] as number
  }

  /** Rejects when the process ends before it has written such a line. */
  line(id: number): Promise<LoggedLine> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.lines.find((line) => line.id === id)
        if (found !== undefined) resolve(found)
      }
      this.#onLine = look
      look()
      const failed = (): void => reject(new Error(`ended before it wrote line ${id}: ${this.stderr}`))
      if (this.process.exitCode === null && this.process.signalCode === null) this.process.once('close', failed)
      else failed()
    })
  }

  async ended(): Promise<{ readonly code: number | null; readonly signal: string | null }> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'close')
    return { code: this.process.exitCode, signal: this.process.signalCode }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    this.process.kill(signal)
    await this.ended()
  }

  #read(chunk: string): void {
    this.#text += chunk
    const lines = this.#text.split('\n')
    this.#text = lines.pop()!
    // Tools stop reading at the first line that is not JSON.
    for (const line of lines) this.lines.push(JSON.parse(line) as LoggedLine)
    this.#onLine()
  }
}
