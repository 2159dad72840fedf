/**
 * The folder in which servers of one user on one machine find one another by their ports. Each has
 * a file with its port as the name, and a socket for messages.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, networkInterfaces, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { parseEndpoint } from '../host/clients/endpoint.js'

export interface RegisteredServer {
  readonly pid: number
  /** Of its listener for clients. */
  readonly port: number
  readonly address: string
  /** In which members look it up; null: in no set, as a router. */
  readonly set: string | null
  readonly endpoint: string
  /** Path of its socket for messages. */
  readonly socket: string
}

export class Rendezvous {
  readonly #folder: string
  #own: number | null = null

  /** @param folder default: one of this user, in the folder for temporary files */
  constructor(folder = join(tmpdir(), `shardlab-${userInfo().uid}`)) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Another user could have made it, to receive our messages.
    const { uid } = statSync(folder)
    if (process.getuid !== undefined && uid !== process.getuid())
      throw new Error(`${folder} belongs to another user: remove it.`)
    chmodSync(folder, 0o700)
  }

  socketOf(port: number): string {
    return process.platform === 'win32'
      ? `\\\\.\\pipe\\shardlab-${port}-${process.pid}`
      : join(this.#folder, `${port}-${process.pid}.sock`)
  }

  register(server: RegisteredServer): void {
    this.#own = server.port
    const path = this.#fileOf(server.port)
    // Renamed, so that no reader sees half of it.
    writeFileSync(`${path}.${process.pid}`, JSON.stringify(server))
    renameSync(`${path}.${process.pid}`, path)
  }

  /** Without effect when a later server has the port. */
  leave(): void {
    if (this.#own === null) return
    if (this.#read(this.#own)?.pid === process.pid) rmSync(this.#fileOf(this.#own), { force: true })
    this.#own = null
  }

  /**
   * @param endpoint `host:port`. Undefined: no server of this machine listens there.
   * @param self found on its port, also before it is registered
   */
  at(endpoint: string, self?: RegisteredServer): RegisteredServer | undefined {
    if (!/:\d+$/.test(endpoint)) return undefined
    const { host, port } = parseEndpoint(endpoint)
    if (!isOfThisMachine(host)) return undefined
    return port === self?.port ? self : this.onPort(port)
  }

  onPort(port: number): RegisteredServer | undefined {
    const server = this.#read(port)
    if (server === undefined) return undefined
    if (isRunning(server.pid)) return server
    // It was killed.
    rmSync(this.#fileOf(port), { force: true })
    rmSync(server.socket, { force: true })
    return undefined
  }

  #fileOf(port: number): string {
    return join(this.#folder, `${port}.json`)
  }

  #read(port: number): RegisteredServer | undefined {
    try {
      return JSON.parse(readFileSync(this.#fileOf(port), 'utf8')) as RegisteredServer
    } catch {
      return undefined
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function isOfThisMachine(host: string): boolean {
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return true
  if (host.toLowerCase() === hostname().toLowerCase()) return true
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === host))
}
