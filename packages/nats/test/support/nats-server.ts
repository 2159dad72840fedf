/** Debian's nats-server on a free port, with a store of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { childOfTest } from './child-of-test.js'

/** Debian installs it where only root looks for programs. */
const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
const program = folders.map((folder) => join(folder, 'nats-server')).find((path) => existsSync(path))

/** For tests: false, or why they are skipped. */
export const withoutNats = program === undefined ? 'needs nats-server (Debian: apt-get install nats-server)' : false

export interface ServerOptions {
  /** Further lines of its configuration file. */
  readonly config?: string
  /** Default true. */
  readonly jetStream?: boolean
  /** Limit of the store. */
  readonly storeBytes?: number
}

export class NatsServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'shardlab-nats-'))
  readonly #config: string
  #process: ChildProcess | null = null
  port = 0

  private constructor({ config = '', jetStream = true, storeBytes }: ServerOptions) {
    const limit = storeBytes === undefined ? '' : `, max_file_store: ${storeBytes}`
    const store = `jetstream { store_dir: "${join(this.#folder, 'store')}"${limit} }`
    this.#config = `${jetStream ? store : ''}\n${config}\n`
  }

  static async start(options: ServerOptions = {}): Promise<NatsServer> {
    const server = new NatsServer(options)
    await server.#begin(-1)
    return server
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`
  }

  async kill(): Promise<void> {
    const exited = once(this.#process!, 'exit')
    this.#process!.kill('SIGKILL')
    await exited
  }

  /** On the same port, with the same store. */
  restart(): Promise<void> {
    return this.#begin(this.port)
  }

  async stop(): Promise<void> {
    if (this.#process!.exitCode === null && this.#process!.signalCode === null) await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #begin(port: number): Promise<void> {
    const file = join(this.#folder, 'nats.conf')
    writeFileSync(file, `listen: "127.0.0.1:${port}"\n${this.#config}`)
    this.#process = childOfTest(spawn(program!, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] }))
    let text = ''
    for await (const line of createInterface({ input: this.#process.stderr! })) {
      text += `${line}\n`
      const listening = /client connections on 127\.0\.0\.1:(\d+)/.exec(line)
      if (listening !== null) this.port = Number(listening[1])
      if (line.includes('Server is ready')) break
    }
    if (this.port === 0) throw new Error(`nats-server did not start: ${text}`)
    this.#process.stderr!.resume()
  }
}
