/**
 * Clients by TLS, and without it unless the mode requires TLS, on one port. The first bytes of a
 * client distinguish them. Server: asio_session_impl.cpp, maybeHandshakeSSLForIngress;
 * ssl_manager_openssl.cpp, parseAndValidatePeerCertificate.
 */
import type { ClientCertificate, LogLevel, TlsState } from '@shardlab/actor'
import type { Socket } from 'node:net'
import { createServer, TLSSocket, type Server } from 'node:tls'
import { distinguishedName, isOfCluster } from './distinguished-name.js'
import { readTlsFiles, type ReadTlsFiles } from './tls-files.js'
import type { TlsSettings } from './tls-settings.js'

export interface TlsClients {
  /** @param raw the TCP socket below; the same without TLS */
  accept(socket: Socket, raw: Socket): void
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void
}

/** Of a record that begins a handshake: its type and version. */
const recordStartBytes = 3
const handshake = 0x16
const handshakeTimeoutMs = 30_000

const countedVersions: Readonly<Record<string, string>> = {
  TLSv1: '1.0',
  'TLSv1.1': '1.1',
  'TLSv1.2': '1.2',
  'TLSv1.3': '1.3',
}

export class TlsListener implements TlsState {
  readonly connections = new Map<string, number>()
  readonly #settings: TlsSettings
  readonly #clients: TlsClients
  readonly #server: Server
  /**
   * TCP sockets of clients that have not said yet what they speak, or whose handshake runs, by
   * their remote address: a TLS socket does not tell the one below.
   */
  readonly #pending = new Map<string, Socket>()
  #files: ReadTlsFiles

  /** @throws TlsFileError */
  constructor(settings: TlsSettings, clients: TlsClients) {
    this.#settings = settings
    this.#clients = clients
    this.#files = readTlsFiles(settings)
    this.#server = createServer({
      ...this.#files.context,
      // Whether a certificate is needed is decided after the handshake, as the server does.
      ...{ requestCert: true, rejectUnauthorized: false },
      ...{ handshakeTimeout: handshakeTimeoutMs, allowHalfOpen: true, noDelay: true },
    })
    this.#server.on('secureConnection', (socket) => this.#secured(socket))
    this.#server.on('tlsClientError', (error, socket) => this.#refused(error.message, socket))
  }

  get pending(): number {
    return this.#pending.size
  }

  get subject(): string {
    return this.#files.subject
  }

  get expiresAtMs(): number {
    return this.#files.expiresAtMs
  }

  get hasCertificateAuthority(): boolean {
    return this.#settings.CAFile !== undefined
  }

  certificateOf(socket: Socket): ClientCertificate | null {
    // With `allowInvalidCertificates` there are clients whose certificate proves nothing.
    if (!this.hasCertificateAuthority || !(socket instanceof TLSSocket) || !socket.authorized) return null
    const certificate = socket.getPeerX509Certificate()
    if (certificate === undefined) return null
    const { subject } = certificate
    return { subject: distinguishedName(subject), isOfMember: isOfCluster(subject, this.#files.subjectLines) }
  }

  /** @throws TlsFileError: the earlier files stay in use */
  rotate(): void {
    this.#files = readTlsFiles(this.#settings)
    this.#server.setSecureContext(this.#files.context)
  }

  accept(raw: Socket): void {
    const remote = remoteOf(raw)
    this.#pending.set(remote, raw)
    raw.once('close', () => this.#pending.delete(remote))
    raw.on('error', () => {})
    raw.setTimeout(handshakeTimeoutMs, () => raw.destroy())
    const gone = (): void => void raw.destroy()
    raw.once('end', gone)
    const decide = (): void => {
      const first = raw.read(recordStartBytes) as Buffer | null
      if (first === null) return
      raw.off('readable', decide)
      raw.setTimeout(0)
      raw.off('end', gone)
      raw.unshift(first)
      if (isHandshake(first)) return void this.#server.emit('connection', raw)
      this.#pending.delete(remote)
      if (this.#settings.mode === 'requireTLS')
        this.#refused('The server is configured to only allow SSL connections', raw)
      else this.#clients.accept(raw, raw)
    }
    raw.on('readable', decide)
  }

  /** Ends the clients that have no connection yet. */
  destroy(): void {
    for (const raw of this.#pending.values()) raw.destroy()
  }

  #secured(socket: TLSSocket): void {
    const remote = remoteOf(socket)
    const raw = this.#pending.get(remote)
    // It is gone.
    if (raw === undefined) return void socket.destroy()
    this.#pending.delete(remote)
    const version = countedVersions[socket.getProtocol() ?? ''] ?? 'unknown'
    this.connections.set(version, (this.connections.get(version) ?? 0) + 1)
    const refusal = this.#refusalOf(socket)
    if (refusal === null) this.#clients.accept(socket, raw)
    else this.#refused(refusal, socket)
  }

  #refusalOf(socket: TLSSocket): string | null {
    const { allowConnectionsWithoutCertificates, allowInvalidCertificates } = this.#settings
    if (!this.hasCertificateAuthority) return null
    if (Object.keys(socket.getPeerCertificate()).length === 0) {
      if (allowConnectionsWithoutCertificates !== true)
        return 'no SSL certificate provided by peer; connection rejected'
      this.#clients.log('debug', 'no SSL certificate provided by peer')
      return null
    }
    if (socket.authorized) return null
    const problem = `SSL peer certificate validation failed: ${String(socket.authorizationError)}`
    if (allowInvalidCertificates !== true) return problem
    this.#clients.log('warn', problem)
    return null
  }

  #refused(reason: string, socket: Socket): void {
    this.#clients.log('warn', 'connection refused: SSLHandshakeFailed', {
      remote: remoteOf(socket),
      error: reason,
    })
    socket.destroy()
  }
}

/** A message without TLS begins with its length, of which only one above 65 kB looks so. */
function isHandshake([type, major, minor]: Uint8Array): boolean {
  return type === handshake && major === 3 && minor! >= 1 && minor! <= 4
}

function remoteOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress}:${remotePort}`
}
