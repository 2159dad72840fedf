/** Serves the page and its WebSocket to browsers of this machine. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { isLocalHost } from '../local-host.js'
import { servePage } from './page-session.js'
import type { DashboardTarget } from './target.js'

const host = '127.0.0.1'
const messageBytesMax = 65_536

export interface DashboardServer {
  readonly url: string
  close(): Promise<void>
}

/** @param port 0: any free port. Rejects with Node's error when it cannot listen */
export async function openDashboard(target: DashboardTarget, port = 0): Promise<DashboardServer> {
  const page = await readFile(new URL('../../page/dashboard.html', import.meta.url), 'utf8')
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policyOf(page),
    'x-content-type-options': 'nosniff',
  }
  const server = createServer((request, response) => {
    if (!isLocalHost(request.headers.host))
      return void response.writeHead(403).end('The host must be 127.0.0.1 or localhost.\n')
    if (request.url !== '/') return void response.writeHead(404).end('There is one page, /.\n')
    response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : page)
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax })
  const sessions = new Set<Promise<void>>()
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    if (!isLocalHost(request.headers.host) || !isOwnPage(request) || request.url !== '/live')
      return void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const session = servePage(opened, target)
      sessions.add(session)
      void session.finally(() => sessions.delete(session))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  return {
    url: `http://${host}:${portOf(server)}/`,
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      server.close()
      server.closeAllConnections()
      sockets.close()
      await Promise.all(sessions)
    },
  }
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
function isOwnPage({ headers }: IncomingMessage): boolean {
  return headers.origin === undefined || headers.origin === `http://${headers.host}`
}
