import { createServer, type AddressInfo, type ListenOptions, type Server, type Socket } from 'node:net'
import {
  clientConnectionsMax,
  type ClientCertificate,
  type LogLevel,
  type PortState,
  type TlsState,
} from '@shardlab/actor'
import type { GatewayTarget } from '../host/clients/gateway-target.js'
import type { Listen, PortLimits } from '../runtime.js'
import { Connection, type ConnectionHost } from './connection.js'
import { RequestMemory } from './request-memory.js'
import type { TlsClients, TlsListener } from './tls/tls-listener.js'

/** Port 0: any free port. */
export interface GatewayOptions extends Listen {
  readonly target: GatewayTarget
  readonly log: (level: LogLevel, message: string, fields?: Record<string, unknown>) => void
  /** Whether a new client may connect; if not, its connection is reset. Default: always. */
  readonly accepts?: () => boolean
  /** Called with the first answer of a turn. `flush` must run when that turn is over. */
  readonly atEndOfTurn?: (flush: () => void) => void
  readonly onLimit?: (limit: keyof PortLimits, value: number) => void
  /**
   * Input of a client that may wait while its command runs; above that its socket is not read.
   * Default 256 KiB.
   */
  readonly maxQueuedInputBytes?: number
  /** How long `close` waits for running commands and for clients to disconnect. Default 500. */
  readonly closeTimeoutMs?: number
}

/** A TCP port on which clients reach one actor. */
export interface Gateway extends PortState {
  readonly host: string
  readonly port: number
  /** Null: clients connect without TLS. */
  readonly tls: TlsState | null
  /**
   * Accepts no new connection, finishes running commands and ends all connections, within
   * `closeTimeoutMs`.
   */
  close(): Promise<void>
  /** Like a crash: resets all connections and frees the port at once. */
  destroy(): void
  connections(): number
}

/**
 * Rejects with Node's own error (`EADDRINUSE`, …) when it cannot listen, with TlsFileError when a
 * file of the settings is wrong.
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = new TcpGateway(options)
  // Imported only with the option: it takes ten milliseconds.
  if (options.tls !== undefined) {
    const { TlsListener } = await import('./tls/tls-listener.js')
    gateway.tls = new TlsListener(options.tls, gateway)
  }
  await gateway.listen(options)
  return gateway
}

class TcpGateway implements Gateway, ConnectionHost, TlsClients {
  readonly target: GatewayTarget
  readonly maxQueuedInputBytes: number
  readonly log: GatewayOptions['log']
  tls: TlsListener | null = null
  readonly connectionsMax: number
  readonly requestMemory: RequestMemory | null
  rejectedConnections = 0
  /** One for each address. */
  readonly #servers: Server[] = []
  /** By id. */
  readonly #connections = new Map<number, Connection>()
  /** Since the last client that was accepted, one was refused. */
  #isFull = false
  readonly #accepts: () => boolean
  readonly #onLimit: (limit: keyof PortLimits, value: number) => void
  readonly #closeTimeoutMs: number
  readonly #atEndOfTurn: (flush: () => void) => void
  #dirty: Connection[] = []
  #lastConnectionId = 0
  #lastRequestId = 0
  #destroyed = false
  #closed: Promise<void> | null = null
  #lastGone: (() => void) | null = null
  #address: AddressInfo | null = null

  constructor(options: GatewayOptions) {
    this.target = options.target
    this.log = options.log
    this.#atEndOfTurn = options.atEndOfTurn ?? setImmediate
    this.#accepts = options.accepts ?? (() => true)
    this.#onLimit = options.onLimit ?? (() => {})
    const { maxIncomingConnections = clientConnectionsMax, requestBytesMax } = options.limits ?? {}
    this.connectionsMax = maxIncomingConnections
    this.requestMemory =
      requestBytesMax === undefined
        ? null
        : new RequestMemory(requestBytesMax, () => this.#onLimit('requestBytesMax', requestBytesMax))
    this.maxQueuedInputBytes = options.maxQueuedInputBytes ?? 262_144
    this.#closeTimeoutMs = options.closeTimeoutMs ?? 500
  }

  readonly #connected = (socket: Socket): void => {
    if (!this.#accepts()) {
      socket.resetAndDestroy()
      return
    }
    if (this.#connections.size + (this.tls?.pending ?? 0) >= this.connectionsMax) {
      this.rejectedConnections++
      if (!this.#isFull) this.#reportFull()
      socket.destroy()
      return
    }
    this.#isFull = false
    if (this.tls === null) this.accept(socket, socket)
    else this.tls.accept(socket)
  }

  /** Once until a client is accepted again: any client can connect. */
  #reportFull(): void {
    this.#isFull = true
    this.#onLimit('maxIncomingConnections', this.connectionsMax)
    this.log('warn', 'connection refused because there are too many open connections', {
      connections: this.#connections.size,
    })
  }

  accept(socket: Socket, raw: Socket): void {
    const id = ++this.#lastConnectionId
    this.#connections.set(id, new Connection(id, socket, raw, this))
  }

  get host(): string {
    return this.#address!.address
  }

  get port(): number {
    return this.#address!.port
  }

  async listen({ host, port, furtherHosts = [] }: Listen): Promise<void> {
    this.#address = await this.#listen({ host, port })
    try {
      // Otherwise `::` would take the port of all IPv4 addresses, too.
      for (const each of furtherHosts) await this.#listen({ host: each, port: this.port, ipv6Only: true })
    } catch (error) {
      this.destroy()
      throw error
    }
  }

  #listen(where: ListenOptions): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      // Half-open: commands that arrived before the client ended its side are still executed and
      // answered.
      const server = createServer({ allowHalfOpen: true, noDelay: true }, this.#connected)
      server.once('error', reject)
      server.listen({ ...where, backlog: 4096 }, () => {
        server.off('error', reject)
        server.on('error', (error) => this.log('error', 'listener failed', { error: error.message }))
        this.#servers.push(server)
        resolve(server.address() as AddressInfo)
      })
    })
  }

  connections(): number {
    return this.#connections.size
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  destroy(): void {
    this.#destroyed = true
    for (const server of this.#servers) server.close()
    this.tls?.destroy()
    this.closeConnections()
  }

  certificateOf(connectionId: number): ClientCertificate | null {
    const connection = this.#connections.get(connectionId)
    return connection === undefined ? null : (this.tls?.certificateOf(connection.socket) ?? null)
  }

  closeConnections(): void {
    for (const connection of this.#connections.values()) connection.destroy()
  }

  nextRequestId(): number {
    return (this.#lastRequestId = (this.#lastRequestId + 1) | 0)
  }

  flushLater(connection: Connection): void {
    if (this.#dirty.push(connection) === 1) this.#atEndOfTurn(this.#flushDirty)
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection.id)
    if (this.#connections.size === 0) this.#lastGone?.()
    this.disconnected(connection)
  }

  /** Once per connection: when its client has closed it, possibly while a command runs. */
  disconnected(connection: Connection): void {
    // After a crash there is no actor to receive it.
    if (this.#destroyed || connection.isReported) return
    connection.isReported = true
    this.#reportDisconnected(connection.id)
  }

  readonly #flushDirty = (): void => {
    const dirty = this.#dirty
    this.#dirty = []
    for (const connection of dirty) connection.flush()
  }

  #reportDisconnected(connectionId: number): void {
    try {
      Promise.resolve(this.target.request('client.disconnected', { connectionId })).catch(() => {})
    } catch {
      // An actor that is gone has no state of the connection.
    }
  }

  async #close(): Promise<void> {
    const stopped = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
    this.tls?.destroy()
    if (this.#connections.size > 0) {
      const gone = new Promise<void>((resolve) => (this.#lastGone = resolve))
      for (const connection of this.#connections.values()) connection.close()
      const timer = setTimeout(() => {
        for (const connection of this.#connections.values()) connection.destroy()
      }, this.#closeTimeoutMs)
      await gone
      clearTimeout(timer)
    }
    await Promise.all(stopped)
  }
}
