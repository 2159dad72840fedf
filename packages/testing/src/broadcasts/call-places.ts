/**
 * Follows the commands of a driver to the lines of the application that caused them. Works on the
 * classes of the driver that the application loads, for as long as the process runs.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** The class `MongoClient` of a driver, from 5.9. */
export interface DriverClient {
  readonly prototype: object
}

export interface StartedCommand {
  /** `file:line:column`; null: no line of the application is on the stack. */
  readonly place: string | null
  readonly command: Readonly<Record<string, unknown>>
}

interface Client {
  monitorCommands: boolean
  on(name: 'commandStarted', listen: (event: StartedEvent) => void): void
  db(name: string): { collection(name: string): object }
}

interface StartedEvent {
  readonly address: string
  readonly serverConnectionId?: bigint | null
  readonly command: Readonly<Record<string, unknown>>
}

type Method = (this: object, ...args: unknown[]) => unknown

const places = new AsyncLocalStorage<string | null>()
const followed = new WeakSet<object>()
const clients = new WeakSet<object>()
/** The command that runs on each connection: a router runs one at a time. */
const running = new Map<string, StartedCommand>()

/** Methods that return a promise, and those that return a cursor. */
const methods = [
  ...['aggregate', 'bulkWrite', 'count', 'countDocuments', 'deleteMany', 'deleteOne', 'distinct', 'find', 'findOne'],
  ...['findOneAndDelete', 'findOneAndReplace', 'findOneAndUpdate', 'insertMany', 'insertOne', 'replaceOne'],
  ...['updateMany', 'updateOne', 'estimatedDocumentCount'],
] as const

const framesMax = 100

/** Clients that connect from now on are followed. Without effect for a class that is already. */
export function followDriver(driver: DriverClient): void {
  if (followed.has(driver.prototype)) return
  followed.add(driver.prototype)
  replace(driver.prototype, 'connect', (connect) => {
    return function (this: object, ...args) {
      followClient(this as Client)
      return connect.apply(this, args)
    }
  })
}

/** @param endpoint `host:port` of the router. Undefined: the connection is not one of a driver */
export function runningCommand(endpoint: string, connectionId: number): StartedCommand | undefined {
  return running.get(`${endpoint} ${connectionId}`)
}

function followClient(client: Client): void {
  if (clients.has(client)) return
  clients.add(client)
  client.monitorCommands = true
  const listen = ({ address, serverConnectionId, command }: StartedEvent): void => {
    if (serverConnectionId === undefined || serverConnectionId === null) return
    const known = places.getStore()
    const place = known === undefined ? placeAbove(listen) : known
    running.set(`${address} ${serverConnectionId}`, { place, command })
  }
  client.on('commandStarted', listen)
  const { constructor } = client.db('test').collection('test')
  const prototype = constructor.prototype as object
  if (followed.has(prototype)) return
  followed.add(prototype)
  for (const name of methods) if (name in prototype) replace(prototype, name, placed)
}

/** The place is that of the call, also of a cursor that is read elsewhere. */
function placed(original: Method): Method {
  const method: Method = function (this: object, ...args) {
    // Methods of the driver call each other: the first one is that of the application.
    const place = places.getStore() ?? placeAbove(method)
    const result = places.run(place, () => original.apply(this, args))
    if (isCursor(result))
      replace(result, '_initialize', (initialize) => {
        return function (this: object, ...given) {
          return places.run(place, () => initialize.apply(this, given))
        }
      })
    return result
  }
  return method
}

function isCursor(value: unknown): value is object {
  return typeof value === 'object' && value !== null && '_initialize' in value && 'toArray' in value
}

function replace(target: object, name: string, wrap: (original: Method) => Method): void {
  const original = (target as Record<string, unknown>)[name] as Method
  Object.defineProperty(target, name, { value: wrap(original), configurable: true, writable: true })
}

/** The first line that is neither of a package nor of Node.js, among the callers of a function. */
function placeAbove(called: (...args: never[]) => unknown): string | null {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = framesMax
  const holder: { stack?: string } = {}
  Error.captureStackTrace(holder, called)
  Error.stackTraceLimit = before
  for (const line of (holder.stack ?? '').split('\n').slice(1)) {
    const place = /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(line)?.[1]?.replace('file://', '')
    if (place !== undefined && !/node_modules|^node:|<anonymous>/.test(place)) return place
  }
  return null
}
