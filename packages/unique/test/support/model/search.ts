/**
 * Visits every state that two clients and their database can reach, breadth first, so that the
 * first violation has the shortest schedule.
 */
import type { Fields } from '@shardlab/unique'
import { Automaton, type Acting, type Idle } from './automaton.js'
import { Database } from './database.js'
import { idOf, titleOf, type Act, type Epoch, type Setting } from './program.js'
import { StateQueue } from './state-queue.js'

export interface Problem extends Setting {
  readonly documents: readonly Fields[]
  /** Acts of each client besides `init`, with which each process begins. */
  readonly acts: readonly [number, number]
  readonly crashes: number
  /** How often all reservations expire. */
  readonly expiries: number
  readonly values: readonly string[]
}

/** One step of a schedule. */
export type Step =
  | { readonly kind: 'begin'; readonly client: number; readonly act: Act }
  | { readonly kind: 'command'; readonly client: number; readonly text: string }
  | { readonly kind: 'stop'; readonly client: number }
  | { readonly kind: 'expire' }

export interface Searched {
  readonly states: number
  readonly clientStates: number
  readonly databaseStates: number
  readonly complete: boolean
  /** The values that two documents share, and the steps that lead there; null: none. */
  readonly violation: { readonly what: readonly string[]; readonly steps: readonly Step[] } | null
  /** Databases in which no client acts. */
  readonly rests: readonly number[]
  readonly database: Database
  /** The steps to a state, by its number. */
  readonly stepsTo: (state: number) => Step[]
  readonly databaseOf: (state: number) => number
}

/** Besides the clients. */
interface Surroundings {
  readonly database: number
  readonly epoch: Epoch
  readonly crashesLeft: number
}

export async function search(problem: Problem, statesMax = Infinity): Promise<Searched> {
  const database = new Database(problem.layout)
  const automaton = new Automaton(database, problem)
  const surroundings: Surroundings[] = []
  const numbers = new Map<number, number>()
  const surroundingsOf = (database: number, epoch: Epoch, crashesLeft: number): number => {
    const key = (database * 16 + epoch) * 16 + crashesLeft
    let number = numbers.get(key)
    if (number === undefined) {
      numbers.set(key, (number = surroundings.length))
      surroundings.push({ database, epoch, crashesLeft })
    }
    return number
  }
  const queue = new StateQueue()
  const start = (client: number): number => automaton.idle({ client, acts: 0, initialized: false, enforcingEpoch: -1 })
  const first = database.stateOf({ main: problem.documents, proxy: [] })
  queue.add(surroundingsOf(first, 0, problem.crashes), start(0), start(1), -1)

  const facts = new DatabaseFacts(database, problem.documents)
  const acts = actsOf(problem)
  const rests = new Set<number>()
  let violating = -1
  let at = 0
  for (; at < queue.size && violating < 0 && queue.size < statesMax; at++) {
    const { database: documents, epoch, crashesLeft } = surroundings[queue.surroundings(at)]!
    const clients = [queue.client(at, 0), queue.client(at, 1)] as const
    const reach = (number: number, client: number, state: number): void =>
      queue.add(number, client === 0 ? state : clients[0], client === 1 ? state : clients[1], at)
    let isWriting = false
    let isIdle = true
    for (const client of [0, 1] as const) {
      const state = automaton.states[clients[client]]!
      if (state.kind === 'idle') {
        for (const act of nextActs(state, problem.acts[client], acts)) {
          const begun = automaton.begin(clients[client], act, epoch)
          reach(queue.surroundings(at), client, typeof begun === 'number' ? begun : await begun)
        }
        continue
      }
      isIdle = false
      if (state.isMainWrite) isWriting = true
      const effect = database.apply(documents, state.command)
      if (effect !== null) {
        const [next, reply] = effect
        const answered = automaton.answer(clients[client], reply, epoch)
        const now = surroundingsOf(next, epoch, crashesLeft)
        reach(now, client, typeof answered === 'number' ? answered : await answered)
      }
      if (crashesLeft > 0) {
        const now = surroundingsOf(database.stopped(documents, client), epoch, crashesLeft - 1)
        reach(now, client, stopped(automaton, state))
      }
    }
    // A write that arrives after its reservation expired is not protected: README, limits.
    if (epoch < problem.expiries && !isWriting && facts.hasReserved(documents))
      queue.add(surroundingsOf(documents, epoch + 1, crashesLeft), clients[0], clients[1], at)
    if (isIdle) rests.add(documents)
    if (facts.shared(documents).length > 0) violating = at
  }
  const stepsTo = (state: number): Step[] => {
    const steps: Step[] = []
    for (let to = state; queue.from(to) >= 0; to = queue.from(to)) {
      const from = queue.from(to)
      const client = ([0, 1] as const).find((each) => queue.client(from, each) !== queue.client(to, each))
      if (client === undefined) {
        steps.push({ kind: 'expire' })
        continue
      }
      const before = automaton.states[queue.client(from, client)]!
      const after = automaton.states[queue.client(to, client)]!
      const [crashesBefore, crashesAfter] = [from, to].map(
        (each) => surroundings[queue.surroundings(each)]!.crashesLeft,
      )
      // Without markers, `init` sends no command.
      if (before.kind === 'idle') steps.push({ kind: 'begin', client, act: after.kind === 'idle' ? init : after.act })
      else if (crashesAfter !== crashesBefore) steps.push({ kind: 'stop', client })
      else steps.push({ kind: 'command', client, text: JSON.stringify(database.commands.values[before.command]) })
    }
    return steps.reverse()
  }
  const databaseOf = (state: number): number => surroundings[queue.surroundings(state)]!.database
  return {
    states: queue.size,
    clientStates: automaton.states.length,
    databaseStates: database.states.values.length,
    complete: violating < 0 && at === queue.size,
    violation: violating < 0 ? null : { what: facts.shared(databaseOf(violating)), steps: stepsTo(violating) },
    rests: [...rests],
    database,
    stepsTo,
    databaseOf,
  }
}

export const textOf = (step: Step): string =>
  step.kind === 'expire'
    ? 'all reservations expire'
    : `client ${step.client + 1} ${step.kind === 'begin' ? `begins ${titleOf(step.act)}` : step.kind === 'stop' ? 'stops' : step.text}`

/** A new process has read no markers, and has to call `init`. */
function stopped(automaton: Automaton, { client, from }: Acting): number {
  return automaton.idle({ client, acts: from.acts + 1, initialized: false, enforcingEpoch: -1 })
}

const init: Act = { name: 'init' }

function nextActs({ initialized, acts }: Idle, actsMax: number, all: readonly Act[]): readonly Act[] {
  // `init` is not counted.
  if (acts > actsMax) return []
  return initialized ? all : [init]
}

function actsOf({ documents, values }: Problem): Act[] {
  return [
    ...values.map((email): Act => ({ name: 'insert', email })),
    ...[...documents.map(({ _id }) => _id as number), idOf(0), idOf(1)].map((_id): Act => ({ name: 'delete', _id })),
    { name: 'backfill' },
    { name: 'repair' },
  ]
}

class DatabaseFacts {
  readonly #database: Database
  readonly #before: readonly Fields[]
  readonly #shared: (readonly string[])[] = []
  readonly #hasReserved: boolean[] = []

  constructor(database: Database, before: readonly Fields[]) {
    this.#database = database
    this.#before = before
  }

  /** Values that documents share, unless both had them at the beginning. */
  shared(state: number): readonly string[] {
    return (this.#shared[state] ??= shared(this.#database.states.values[state]!.main, this.#before))
  }

  hasReserved(state: number): boolean {
    return (this.#hasReserved[state] ??= this.#database.states.values[state]!.proxy.some(
      (each) => each['state'] === 'reserved',
    ))
  }
}

export function shared(documents: readonly Fields[], before: readonly Fields[]): string[] {
  const isOld = ({ _id, email }: Fields): boolean => before.some((old) => old['_id'] === _id && old['email'] === email)
  return documents.flatMap((each, i) => {
    const others = documents.filter((other, j) => j !== i && other['email'] === each['email'])
    return others.length === 0 || [each, ...others].every(isOld)
      ? []
      : [`${String(each['_id'])} shares ${String(each['email'])}`]
  })
}
