/** Facts about the server, and whether a test may run on it. */
import { MongoServerError, type Document, type MongoClient } from 'mongodb'
import { matchNested } from './matching.js'
import type { Skip } from './skip-kinds.js'
import type { Operation, RunOnRequirement, SpecFile, SpecTest } from './spec-files.js'

/** The facts that requirements refer to. */
export interface ServerFacts {
  /** `8.0.4` as numbers. */
  readonly version: readonly number[]
  readonly parameters: Document
  readonly topology: string
  /** The client of this program is logged in. */
  readonly hasUser: boolean
  /** hello announces a higher wire version than servers of this version have. */
  readonly wireVersionIsRaised: boolean
  /** Missing features, each with the reason shown for a skipped test. */
  readonly missing: ReadonlyMap<Feature, string>
}

/** Parts of a server that only some tests need. */
export type Feature = 'failPoints' | 'transactions' | 'changeStreams'

interface FeatureRow {
  readonly reason: string
  /** Whether a test needs it. */
  readonly isNeeded: (operations: readonly Operation[], test: SpecTest, file: SpecFile) => boolean
  /** Rejects when the server does not have it. */
  readonly probe: (client: MongoClient) => Promise<unknown>
}

const uses = (operations: readonly Operation[], ...names: string[]): boolean =>
  operations.some(({ name }) => names.includes(name))

const features: Readonly<Record<Feature, FeatureRow>> = {
  failPoints: {
    reason: 'needs fail points (configureFailPoint)',
    isNeeded: (operations) => uses(operations, 'failPoint', 'targetedFailPoint'),
    probe: (client) => client.db('admin').command({ configureFailPoint: 'failCommand', mode: 'off' }),
  },
  transactions: {
    reason: 'needs transactions',
    isNeeded: (operations) =>
      uses(operations, 'startTransaction', 'commitTransaction', 'abortTransaction', 'withTransaction'),
    probe: (client) =>
      client.withSession(async (session) => {
        session.startTransaction()
        await client.db('test').collection('probe').findOne({}, { session })
        await session.abortTransaction()
      }),
  },
  changeStreams: {
    reason: 'needs change streams',
    isNeeded: (operations) => uses(operations, 'createChangeStream') || operations.some(opensChangeStream),
    probe: async (client) => {
      const stream = client.watch()
      try {
        await stream.tryNext()
      } finally {
        await stream.close()
      }
    },
  },
}

function opensChangeStream({ arguments: args }: Operation): boolean {
  const first = (args?.['pipeline'] ?? args?.['command']?.['pipeline'])?.[0]
  return first !== undefined && first !== null && Object.hasOwn(first as object, '$changeStream')
}

/** All operations of a test, including those of a loop, a thread or a transaction's callback. */
export function operationsOf(operations: readonly Operation[]): Operation[] {
  return operations.flatMap((operation) => {
    const inner = [
      operation.arguments?.['operations'],
      operation.arguments?.['callback'],
      operation.arguments?.['operation'],
    ]
    return [operation, ...operationsOf(inner.flat().filter((each) => each !== undefined) as Operation[])]
  })
}

/** Reads the facts from the server. */
export async function serverFacts(client: MongoClient): Promise<ServerFacts> {
  const admin = client.db('admin')
  const { version } = (await admin.command({ buildInfo: 1 })) as unknown as { version: string }
  const hello = await admin.command({ hello: 1 })
  const parameters = await admin.command({ getParameter: '*' }).catch(() => ({}))
  const missing = new Map<Feature, string>()
  for (const [feature, { probe, reason }] of Object.entries(features) as [Feature, FeatureRow][]) {
    await probe(client).catch((error: unknown) => {
      if (!(error instanceof MongoServerError)) throw error
      missing.set(feature, reason)
    })
  }
  const { authInfo } = await admin.command({ connectionStatus: 1 })
  const hasUser = (authInfo as { authenticatedUsers: unknown[] }).authenticatedUsers.length > 0
  const topology = hello['msg'] === 'isdbgrid' ? 'sharded' : hello['setName'] === undefined ? 'single' : 'replicaset'
  const numbers = numbersOf(version)
  const wireVersionIsRaised =
    isBefore(numbers, firstAccepted.version) && hello['maxWireVersion'] >= firstAccepted.wireVersion
  return { version: numbers, parameters, topology, hasUser, wireVersionIsRaised, missing }
}

/** The first server that the driver connects to. */
const firstAccepted = { version: [4, 4], wireVersion: 9 } as const

export function isBefore(version: readonly number[], other: readonly number[]): boolean {
  return compareVersions(version, other) < 0
}

const numbersOf = (version: string): number[] => version.split('-')[0]!.split('.').map(Number)

function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < 3; i++) if ((a[i] ?? 0) !== (b[i] ?? 0)) return (a[i] ?? 0) - (b[i] ?? 0)
  return 0
}

/**
 * Why none of the alternatives holds; null: one does, or there are none. An alternative for this
 * topology names the reason, if there is one.
 */
export function unmetRequirement(
  requirements: readonly RunOnRequirement[] | undefined,
  facts: ServerFacts,
): Skip | null {
  if (requirements === undefined || requirements.length === 0) return null
  const skips: Skip[] = []
  for (const each of requirements) {
    const skip = unmet(each, facts)
    if (skip === null) return null
    skips.push(skip)
  }
  const ofTopology = skips.filter(({ kind }) => kind !== 'topology')
  const [{ kind }] = [...ofTopology, ...skips] as [Skip]
  return { kind, reason: [...new Set(skips.map(({ reason }) => reason))].join(', or ') }
}

function unmet(requirement: RunOnRequirement, facts: ServerFacts): Skip | null {
  const {
    minServerVersion: min,
    maxServerVersion: max,
    topologies,
    serverParameters,
    serverless,
    auth,
    authMechanism,
    csfle,
  } = requirement
  const ofSharded = facts.topology === 'sharded' ? ['sharded', 'sharded-replicaset'] : [facts.topology]
  if (topologies !== undefined && !topologies.some((each) => ofSharded.includes(each)))
    return { kind: 'topology', reason: `is for topology ${topologies.join(', ')}` }
  if (min !== undefined && compareVersions(facts.version, numbersOf(min)) < 0)
    return { kind: 'version', reason: `is for servers from ${min}` }
  // A maximum of 4.0 includes all of 4.0.x.
  if (max !== undefined) {
    const parts = numbersOf(max)
    if (compareVersions(facts.version.slice(0, parts.length), parts) > 0)
      return { kind: 'version', reason: `is for servers up to ${max}` }
  }
  if (auth !== undefined && auth !== facts.hasUser)
    return { kind: 'setup', reason: auth ? 'needs users' : 'is for servers without users' }
  const mechanisms = facts.parameters['authenticationMechanisms'] as readonly string[] | undefined
  if (authMechanism !== undefined && mechanisms?.includes(authMechanism) !== true)
    return { kind: 'setup', reason: `needs the mechanism ${authMechanism}` }
  if (csfle !== undefined && csfle !== false) return { kind: 'setup', reason: 'needs client-side encryption' }
  if (serverless === 'require') return { kind: 'topology', reason: 'is for serverless' }
  for (const [name, value] of Object.entries(serverParameters ?? {})) {
    try {
      matchNested(facts.parameters[name], value, noEntities)
    } catch {
      return { kind: 'setup', reason: `needs the server parameter ${name}` }
    }
  }
  return null
}

const none = (name: string): never => {
  throw new Error(`no entity ${name} here`)
}
const noEntities = { entity: none, lsid: none }

/** Why a test is not run on this server; null: it runs. */
export function skipOf(file: SpecFile, test: SpecTest, facts: ServerFacts): Skip | null {
  if (!file.schemaVersion.startsWith('1.'))
    return { kind: 'specification', reason: `has schema version ${file.schemaVersion}` }
  const unmetHere = unmetRequirement(file.runOnRequirements, facts) ?? unmetRequirement(test.runOnRequirements, facts)
  if (unmetHere !== null) return unmetHere
  if (test.skipReason !== undefined) return { kind: 'specification', reason: 'is skipped by the specification itself' }
  if (test.expectTracingMessages !== undefined)
    return { kind: 'driver', reason: 'expects tracing, which the driver does not offer' }
  const operations = operationsOf(test.operations)
  for (const [feature, reason] of facts.missing) {
    if (features[feature].isNeeded(operations, test, file)) return { kind: 'feature', reason }
  }
  return null
}
