/** Operations on the test runner itself: assertions, waiting, threads, loops, fail points. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { BSON, ClientSession, MongoClient, type Document } from 'mongodb'
import { Thread, type Entities } from '../entities.js'
import { Mismatch, show } from '../matching.js'
import type { Operation } from '../spec-files.js'

/** Context of the runner's own operations. */
export interface RunnerContext {
  readonly entities: Entities
  /** A client that no test observes. */
  readonly internal: MongoClient
  readonly run: (operation: Operation) => Promise<void>
  /** Sets a fail point, on the server that this client or address names, until the test ends. */
  readonly setFailPoint: (target: MongoClient | string, failPoint: Document) => Promise<void>
}

type RunnerMethod = (args: Document, context: RunnerContext) => unknown

/** Longest wait for an event or a thread. */
const patienceMs = 10_000

function expectThat(holds: boolean, what: string, expected: unknown, actual: unknown): void {
  if (!holds) throw new Mismatch(what, expected, actual)
}

/** Fields that the driver does not export. */
interface SessionInternals {
  readonly serverSession: { readonly isDirty: boolean }
  readonly transaction: {
    readonly state: string
    readonly server?: { readonly description: { readonly address: string } }
  }
}
const inside = (session: ClientSession): SessionInternals => session as unknown as SessionInternals

const transactionStates: Readonly<Record<string, readonly string[]>> = {
  none: ['NO_TRANSACTION'],
  starting: ['STARTING_TRANSACTION'],
  in_progress: ['TRANSACTION_IN_PROGRESS'],
  committed: ['TRANSACTION_COMMITTED', 'TRANSACTION_COMMITTED_EMPTY'],
  aborted: ['TRANSACTION_ABORTED'],
}

async function collectionExists(
  { databaseName, collectionName }: Document,
  { internal }: RunnerContext,
): Promise<boolean> {
  return (
    (await internal.db(databaseName).listCollections({ name: collectionName }, { nameOnly: true }).toArray()).length > 0
  )
}

async function indexExists(args: Document, { internal }: RunnerContext): Promise<boolean> {
  const collection = internal.db(args['databaseName']).collection(args['collectionName'])
  const indexes = await collection
    .listIndexes()
    .toArray()
    .catch(() => [])
  return indexes.some(({ name }) => name === args['indexName'])
}

function lsidsOfLastTwo({ client }: Document, { entities }: RunnerContext): [unknown, unknown] {
  const started = entities.observer(client).events.filter(({ name }) => name === 'commandStartedEvent')
  const lsids = started.slice(-2).map(({ event }) => event.command.lsid as unknown)
  if (lsids.length < 2 || lsids.includes(undefined))
    throw new Mismatch('lsid of the last two commands', 'two of them', lsids)
  return lsids.map((each) => BSON.EJSON.stringify(each)) as [string, string]
}

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!holds()) {
    if (performance.now() > deadline) throw new Mismatch(what, 'to happen', 'nothing of it in time')
    await sleep(5)
  }
}

export const runnerMethods: Readonly<Record<string, RunnerMethod>> = {
  createEntities: async (args, { entities }) => {
    for (const each of args['entities'] as Document[]) await entities.create(each)
  },
  failPoint: (args, { entities, setFailPoint }) =>
    setFailPoint(entities.get(args['client'], MongoClient), args['failPoint']),
  targetedFailPoint: (args, { entities, setFailPoint }) => {
    const address = inside(entities.get(args['session'], ClientSession)).transaction.server?.description.address
    if (address === undefined) throw new Mismatch('the session', 'to be pinned to a mongos', 'it is not')
    return setFailPoint(address, args['failPoint'])
  },

  assertCollectionExists: async (args, context) =>
    expectThat(await collectionExists(args, context), 'the collection', args, 'it does not exist'),
  assertCollectionNotExists: async (args, context) =>
    expectThat(!(await collectionExists(args, context)), 'the collection', 'none', args),
  assertIndexExists: async (args, context) =>
    expectThat(await indexExists(args, context), 'the index', args, 'it does not exist'),
  assertIndexNotExists: async (args, context) =>
    expectThat(!(await indexExists(args, context)), 'the index', 'none', args),

  assertSessionPinned: (args, { entities }) =>
    expectThat(entities.get(args['session'], ClientSession).isPinned, 'the session', 'to be pinned', 'it is not'),
  assertSessionUnpinned: (args, { entities }) =>
    expectThat(!entities.get(args['session'], ClientSession).isPinned, 'the session', 'not to be pinned', 'it is'),
  assertSessionDirty: (args, { entities }) =>
    expectThat(
      inside(entities.get(args['session'], ClientSession)).serverSession.isDirty,
      'the session',
      'to be dirty',
      'it is not',
    ),
  assertSessionNotDirty: (args, { entities }) =>
    expectThat(
      !inside(entities.get(args['session'], ClientSession)).serverSession.isDirty,
      'the session',
      'not to be dirty',
      'it is',
    ),
  assertSessionTransactionState: (args, { entities }) => {
    const { state } = inside(entities.get(args['session'], ClientSession)).transaction
    expectThat(transactionStates[args['state']]!.includes(state), 'the state of the transaction', args['state'], state)
  },
  assertSameLsidOnLastTwoCommands: (args, context) => {
    const [first, second] = lsidsOfLastTwo(args, context)
    expectThat(isDeepStrictEqual(first, second), 'lsid of the last two commands', first, second)
  },
  assertDifferentLsidOnLastTwoCommands: (args, context) => {
    const [first, second] = lsidsOfLastTwo(args, context)
    expectThat(!isDeepStrictEqual(first, second), 'lsid of the last two commands', 'two different ones', first)
  },
  assertNumberConnectionsCheckedOut: (args, { entities }) => {
    const { topology } = entities.get(args['client'], MongoClient) as unknown as {
      topology?: { s: { servers: Map<string, any> } }
    }
    const count = [...(topology?.s.servers.values() ?? [])].reduce(
      (sum, { pool }) => sum + Number(pool.currentCheckedOutCount),
      0,
    )
    expectThat(count === args['connections'], 'connections in use', args['connections'], count)
  },
  assertEventCount: (args, { entities }) => {
    const count = entities.observer(args['client']).count(args['event'], entities)
    expectThat(count === args['count'], `count of ${show(args['event'])}`, args['count'], count)
  },

  wait: (args) => sleep(args['ms']),
  waitForEvent: (args, { entities }) =>
    until(
      () => entities.observer(args['client']).count(args['event'], entities) >= args['count'],
      `${args['count']} of ${show(args['event'])}`,
    ),
  runOnThread: (args, { entities, run }) => entities.get(args['thread'], Thread).run(() => run(args['operation'])),
  waitForThread: (args, { entities }) => {
    const late = sleep(patienceMs, undefined, { ref: false }).then(() => {
      throw new Mismatch('the thread', 'to end', 'it did not in time')
    })
    return Promise.race([entities.get(args['thread'], Thread).finished(), late])
  },
  loop: loop,
}

/**
 * Repeats operations until one fails, or for `numIterations`; failures and errors are stored in
 * entities that the test names.
 */
async function loop(args: Document, { entities, run }: RunnerContext): Promise<void> {
  const { operations, numIterations = 1 } = args as { operations: Operation[]; numIterations?: number }
  const errors: Document[] = []
  const failures: Document[] = []
  const errorsId: string | undefined = args['storeErrorsAsEntity'] ?? args['storeFailuresAsEntity']
  const failuresId: string | undefined = args['storeFailuresAsEntity'] ?? args['storeErrorsAsEntity']
  let iterations = 0
  let successes = 0
  for (; iterations < numIterations && errors.length + failures.length === 0; iterations++) {
    for (const operation of operations) {
      try {
        await run(operation)
        successes++
      } catch (error) {
        if (errorsId === undefined) throw error
        const list = error instanceof Mismatch && failuresId !== errorsId ? failures : errors
        list.push({ error: String(error), time: Date.now() / 1000 })
        break
      }
    }
  }
  for (const [id, list] of new Map([
    [failuresId, failures],
    [errorsId, errors],
  ]))
    if (id !== undefined) entities.set(id, list)
  if (args['storeIterationsAsEntity'] !== undefined) entities.set(args['storeIterationsAsEntity'], iterations)
  if (args['storeSuccessesAsEntity'] !== undefined) entities.set(args['storeSuccessesAsEntity'], successes)
}
