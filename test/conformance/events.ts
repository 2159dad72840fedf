/**
 * Records what a client emits during a test: command, pool and topology events, and log messages.
 */
import { MongoClient, type Document } from 'mongodb'
import { matchNested, matchRoot, Mismatch, show, type MatchContext } from './matching.js'

/** An event of the driver, under its name in the format. */
export interface ObservedEvent {
  readonly name: string
  readonly family: 'command' | 'cmap' | 'sdam'
  readonly event: any
}

const driverEvents: readonly (readonly [name: string, driverName: string, family: ObservedEvent['family']])[] = [
  ['commandStartedEvent', 'commandStarted', 'command'],
  ['commandSucceededEvent', 'commandSucceeded', 'command'],
  ['commandFailedEvent', 'commandFailed', 'command'],
  ['poolCreatedEvent', 'connectionPoolCreated', 'cmap'],
  ['poolReadyEvent', 'connectionPoolReady', 'cmap'],
  ['poolClearedEvent', 'connectionPoolCleared', 'cmap'],
  ['poolClosedEvent', 'connectionPoolClosed', 'cmap'],
  ['connectionCreatedEvent', 'connectionCreated', 'cmap'],
  ['connectionReadyEvent', 'connectionReady', 'cmap'],
  ['connectionClosedEvent', 'connectionClosed', 'cmap'],
  ['connectionCheckOutStartedEvent', 'connectionCheckOutStarted', 'cmap'],
  ['connectionCheckOutFailedEvent', 'connectionCheckOutFailed', 'cmap'],
  ['connectionCheckedOutEvent', 'connectionCheckedOut', 'cmap'],
  ['connectionCheckedInEvent', 'connectionCheckedIn', 'cmap'],
  ['serverDescriptionChangedEvent', 'serverDescriptionChanged', 'sdam'],
  ['serverHeartbeatStartedEvent', 'serverHeartbeatStarted', 'sdam'],
  ['serverHeartbeatSucceededEvent', 'serverHeartbeatSucceeded', 'sdam'],
  ['serverHeartbeatFailedEvent', 'serverHeartbeatFailed', 'sdam'],
  ['topologyOpeningEvent', 'topologyOpening', 'sdam'],
  ['topologyDescriptionChangedEvent', 'topologyDescriptionChanged', 'sdam'],
  ['topologyClosedEvent', 'topologyClosed', 'sdam'],
]

/** Commands with secrets: drivers redact them, and tests see them only if they ask. */
const sensitive = new Set(
  'authenticate saslStart saslContinue getnonce createUser updateUser copydbgetnonce copydbsaslstart copydb'.split(' '),
)
const handshakes = new Set(['hello', 'ismaster', 'isMaster'])

/** Records the events and log messages of one client. */
export class Observer {
  readonly events: ObservedEvent[] = []
  readonly logs: Document[] = []
  readonly #ignored: ReadonlySet<string>
  readonly #observesSensitive: boolean
  readonly #redacted = new Set<number>()

  /** `description` is the test's client entity. */
  constructor(description: Document) {
    this.#ignored = new Set([
      'configureFailPoint',
      ...((description['ignoreCommandMonitoringEvents'] as string[] | undefined) ?? []),
    ])
    this.#observesSensitive = description['observeSensitiveCommands'] === true
  }

  observe(client: MongoClient, names: readonly string[]): void {
    const emitter = client as unknown as { on(name: string, listener: (event: any) => void): void }
    for (const [name, driverName, family] of driverEvents) {
      if (!names.includes(name)) continue
      emitter.on(driverName, (event) => {
        if (family !== 'command' || this.#isVisible(event)) this.events.push({ name, family, event })
      })
    }
  }

  #isVisible(event: any): boolean {
    if (this.#ignored.has(event.commandName)) return false
    if (this.#observesSensitive) return true
    if (sensitive.has(event.commandName)) return false
    if (!handshakes.has(event.commandName)) return true
    if (event.command !== undefined && Object.keys(event.command).length === 0) this.#redacted.add(event.requestId)
    return !this.#redacted.has(event.requestId)
  }

  /**
   * Checks one list of `expectEvents`.
   * @throws Mismatch
   */
  checkEvents(
    expected: readonly Document[],
    family: ObservedEvent['family'],
    ignoreExtra: boolean,
    context: MatchContext,
  ): void {
    const actual = this.events.filter((each) => each.family === family)
    const names = actual.map(({ name, event }) =>
      event.commandName === undefined ? name : `${name} ${event.commandName}`,
    )
    if (ignoreExtra ? actual.length < expected.length : actual.length !== expected.length)
      throw new Mismatch(
        'events',
        expected.map((each) => Object.keys(each)[0]),
        names,
      )
    expected.forEach((each, i) => matchEvent(actual[i]!, each, context, `events[${i}]`))
  }

  /** The number of events that match the expected one. */
  count(expected: Document, context: MatchContext): number {
    return this.events.filter((each) => {
      try {
        matchEvent(each, expected, context, '')
        return true
      } catch (error) {
        if (error instanceof Mismatch) return false
        throw error
      }
    }).length
  }

  /**
   * Checks one list of `expectLogMessages`.
   * @throws Mismatch
   */
  checkLogs(
    expected: readonly Document[],
    options: { ignoreExtra: boolean; ignored: readonly Document[] },
    context: MatchContext,
  ): void {
    const actual = this.logs.filter((each) => !options.ignored.some((pattern) => isLike(each, pattern, context)))
    if (options.ignoreExtra ? actual.length < expected.length : actual.length !== expected.length)
      throw new Mismatch(
        'log messages',
        expected.map((each) => each['data']?.message),
        actual.map(({ data }) => data.message),
      )
    expected.forEach((each, i) => matchLog(actual[i]!, each, context, `log messages[${i}]`))
  }

  /** Driver options that log what the test names, `{command: 'debug'}`, into {@link logs}. */
  logOptions(severities: Record<string, string>): Document {
    return {
      mongodbLogComponentSeverities: severities,
      mongodbLogMaxDocumentLength: 10_000,
      mongodbLogPath: {
        write: ({ t: _time, c: component, s: level, ...data }: Document) =>
          void this.logs.push({ component, level, data }),
      },
    }
  }
}

function isLike(actual: Document, expected: Document, context: MatchContext): boolean {
  try {
    matchLog(actual, expected, context, '')
    return true
  } catch (error) {
    if (error instanceof Mismatch) return false
    throw error
  }
}

function matchLog(
  actual: Document,
  { failureIsRedacted, ...expected }: Document,
  context: MatchContext,
  path: string,
): void {
  matchNested(
    { component: actual['component'], level: actual['level'] },
    pick(expected, ['component', 'level']),
    context,
    path,
  )
  matchRoot(actual['data'], expected['data'] ?? {}, context, path)
  if (failureIsRedacted === undefined) return
  const failure: unknown = actual['data'].failure
  if (failure === undefined || (failure === '(redacted)') !== failureIsRedacted)
    throw new Mismatch(`${path}.failure`, failureIsRedacted === true ? '(redacted)' : 'a reason', failure)
}

const pick = (document: Document, names: readonly string[]): Document =>
  Object.fromEntries(names.map((name) => [name, document[name] ?? { $$exists: true }]))

function matchEvent({ name, event }: ObservedEvent, expected: Document, context: MatchContext, path: string): void {
  const [expectedName, fields] = Object.entries(expected)[0] as [string, Document]
  if (name !== expectedName)
    throw new Mismatch(path, expectedName, event.commandName === undefined ? name : `${name} ${event.commandName}`)
  for (const [field, value] of Object.entries(fields)) matchField(event, field, value, context, `${path}.${field}`)
}

function matchField(event: any, field: string, value: any, context: MatchContext, path: string): void {
  switch (field) {
    case 'command':
    case 'reply':
      return matchRoot(event[field], value, context, path)
    case 'hasServiceId':
      return matchNested(event.serviceId !== undefined && event.serviceId !== null, value, context, path)
    case 'hasServerConnectionId': {
      const id = event.serverConnectionId
      return matchNested((typeof id === 'bigint' || typeof id === 'number') && id > 0, value, context, path)
    }
    case 'previousDescription':
    case 'newDescription':
      return matchRoot(event[field], value, context, path)
    default:
      if (event[field] === undefined && !(field in event))
        throw new Error(`the runner cannot see ${show({ [field]: value })} of an event`)
      return matchNested(event[field], value, context, path)
  }
}
