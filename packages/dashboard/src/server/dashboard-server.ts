/** Serves the page and its WebSocket. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { WebSocketServer } from 'ws'
import { isLocalHost } from '../local-host.js'
import { servePage } from './page-session.js'
import type { DashboardTarget } from './target.js'

const loopback = '127.0.0.1'
const messageBytesMax = 65_536

/** Listens where other machines can open the page. Its target must want a login. */
export interface Exposure {
  readonly host: string
  /** Of the address of the page. */
  readonly name: string
  /** Called for each connection, so that a renewed certificate needs no restart. @throws Error */
  readonly certificate: () => SecureContextOptions
}

export interface DashboardListening {
  /** 0: any free port. */
  readonly port: number
  /** null: only this machine can open the page, without TLS. */
  readonly exposure: Exposure | null
}

export interface DashboardServer {
  readonly url: string
  close(): Promise<void>
}

/** Rejects with Node's error when it cannot listen. */
export async function openDashboard(
  target: DashboardTarget,
  { port, exposure }: DashboardListening,
): Promise<DashboardServer> {
  if (exposure !== null && !target.needsLogin) throw new Error('other machines may open only a page with a login')
  const page = await readFile(new URL('../../page/dashboard.html', import.meta.url), 'utf8')
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policyOf(page),
    'x-content-type-options': 'nosniff',
  }
  // A page of another site cannot log in, so only pages without a login check the name.
  const isReachedWell = ({ headers }: IncomingMessage): boolean => exposure !== null || isLocalHost(headers.host)
  const server = await serverOf(exposure, (request, response) => {
    if (!isReachedWell(request)) return void response.writeHead(403).end('The host must be 127.0.0.1 or localhost.\n')
    if (request.url !== '/') return void response.writeHead(404).end('There is one page, /.\n')
    response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : page)
  })
  const scheme = exposure === null ? 'http' : 'https'
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax })
  const sessions = new Set<Promise<void>>()
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    if (!isReachedWell(request) || !isOwnPage(request, scheme) || request.url !== '/live')
      return void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const session = servePage(opened, target)
      sessions.add(session)
      void session.finally(() => sessions.delete(session))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: exposure?.host ?? loopback, port }, resolve)
  })
  return {
    url: `${scheme}://${exposure?.name ?? loopback}:${portOf(server)}/`,
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      server.close()
      server.closeAllConnections()
      sockets.close()
      await Promise.all(sessions)
    },
  }
}

async function serverOf(exposure: Exposure | null, serve: RequestListener): Promise<Server> {
  if (exposure === null) return createServer(serve)
  const { createServer: createTlsServer } = await import('node:https')
  const { certificate } = exposure
  const server = createTlsServer(certificate(), serve)
  server.prependListener('connection', () => {
    try {
      server.setSecureContext(certificate())
    } catch {
      // The files are being replaced: the last certificate serves on.
    }
  })
  // A client that speaks no TLS.
  server.on('tlsClientError', () => {})
  return server
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** The page has one script and one style sheet, inside, and connects to its server alone. */
function policyOf(page: string): string {
  const hashOf = (element: string): string => {
    const [, text] = new RegExp(`<${element}>([^]*?)</${element}>`).exec(page)!
    return `'sha256-${createHash('sha256').update(text!).digest('base64')}'`
  }
  return `default-src 'none'; script-src ${hashOf('script')}; style-src ${hashOf('style')}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

/** Pages of other sites may open WebSockets to this machine. */
function isOwnPage({ headers }: IncomingMessage, scheme: string): boolean {
  return headers.origin === undefined || headers.origin === `${scheme}://${headers.host}`
}
