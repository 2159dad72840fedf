/** HTTP control for test suites in any language. It listens on this machine alone. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ShardedCluster } from '@shardlab/cluster'
import { isLocalHost } from '@shardlab/dashboard'
import { ControlledClusters } from './controlled-clusters.js'
import { openApi } from './open-api.js'
import { operations, type Operation } from './operations.js'

const host = '127.0.0.1'
const bodyBytesMax = 1_048_576

export interface ControlServer {
  readonly url: string
  /** Stops the forks, too. */
  close(): Promise<void>
}

/** @param port 0: any free port. Rejects with Node's error when it cannot listen */
export async function openControl(cluster: ShardedCluster, port: number): Promise<ControlServer> {
  const clusters = new ControlledClusters(cluster)
  const server = createServer((request, response) => void answer(clusters, server, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  return {
    url: urlOf(server),
    async close() {
      server.close()
      server.closeAllConnections()
      await clusters.stopForks()
    },
  }
}

class HttpError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const urlOf = (server: Server): string => `http://${host}:${(server.address() as AddressInfo).port}`

async function answer(
  clusters: ControlledClusters,
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [status, reply] = await outcomeOf(clusters, server, request)
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(reply)}\n`)
}

async function outcomeOf(
  clusters: ControlledClusters,
  server: Server,
  request: IncomingMessage,
): Promise<[status: number, reply: object]> {
  try {
    refuseBrowsers(request)
    const url = new URL(request.url ?? '/', urlOf(server))
    if (request.method === 'GET' && url.pathname === '/openapi.json') return [200, openApi(urlOf(server))]
    const { operation, parts } = operationAt(request.method ?? '', url.pathname)
    const clusterId = parts['cluster'] ?? 'main'
    const target = clusters.find(clusterId)
    if (target === undefined) throw new HttpError(404, `there is no cluster ${clusterId}; GET /clusters lists them.`)
    const given = operation.method === 'GET' ? queryOf(url) : await bodyOf(request)
    const input = inputOf(operation, given)
    const result = await operation.run({ clusters, target, clusterId, id: parts['id'] ?? '', input })
    return [200, (result as object | undefined) ?? {}]
  } catch (error) {
    const { status = statusOf(error), message } = error as Partial<HttpError> & Error
    return [status, { error: message }]
  }
}

/** The caller's mistake, or a state in which it is not possible. */
function statusOf(error: unknown): number {
  return error instanceof Error && ['OptionError', 'BusyWorldError'].includes(error.name) ? 400 : 500
}

/** A page of another site could send requests to this port, or reach it by a name of its own. */
function refuseBrowsers({ headers }: IncomingMessage): void {
  if (headers.origin !== undefined) throw new HttpError(403, 'requests of web pages are refused.')
  if (!isLocalHost(headers.host)) throw new HttpError(403, 'the host must be 127.0.0.1 or localhost.')
}

function operationAt(
  method: string,
  path: string,
): { readonly operation: Operation; readonly parts: Readonly<Record<string, string>> } {
  for (const operation of operations) {
    const pattern = new RegExp(`^${operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
    const match = operation.method === method ? pattern.exec(path) : null
    if (match !== null) return { operation, parts: { ...match.groups } }
  }
  throw new HttpError(404, `there is no operation ${method} ${path}; GET /openapi.json describes them.`)
}

/** Without empty values. */
const queryOf = ({ searchParams }: URL): Record<string, string> =>
  Object.fromEntries([...searchParams].filter(([, value]) => value !== ''))

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > bodyBytesMax) throw new HttpError(413, 'the body is too large.')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpError(400, 'the body is not JSON.')
  }
}

function inputOf({ input, name, method, example }: Operation, given: unknown): Readonly<Record<string, unknown>> {
  const wrong = (what: string): HttpError =>
    new HttpError(400, `${name}: ${what}${example === undefined ? '' : `: send ${example}`}.`)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong(`the body is ${JSON.stringify(given)}, not a JSON object`)
  const fields = input === null ? [] : Object.keys(input.shape)
  const unknown = Object.keys(given).find((field) => !fields.includes(field))
  if (unknown !== undefined)
    throw wrong(
      `${method === 'GET' ? 'the query' : 'the body'} has ${unknown}, but the operation has ${fields.length === 0 ? 'no parameters' : fields.join(', ')}`,
    )
  if (input === null) return {}
  const { success, data, error } = input.safeParse(given)
  if (success) return data
  const [field] = error.issues[0]!.path as [string]
  const value = (given as Readonly<Record<string, unknown>>)[field]
  throw wrong(value === undefined ? `${field} is missing` : `${field} is ${JSON.stringify(value)}`)
}
