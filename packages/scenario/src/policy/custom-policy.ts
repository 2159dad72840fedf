import { pathToFileURL } from 'node:url'
import { createContext, Script } from 'node:vm'
import { OptionError } from '@shardlab/cluster'
import type { BalancePolicy, PolicyMove, PolicySituation } from '@shardlab/balancer'
import { ScenarioError } from '../run/failure.js'
import { rehearseLoading } from './rehearsal.js'

const reasons: readonly string[] = [
  'draining',
  'zoneViolation',
  'chunksImbalance',
] satisfies readonly PolicyMove['reason'][]

export interface PolicyLimits {
  readonly answerMs?: number
  readonly loadMs?: number
}

type UserPolicy = (situation: PolicySituation) => unknown

/** Time limit for one collection. */
const answerMsMax = 10_000
const loadMsMax = 10_000
/** A script makes the code interruptible, including the functions that it calls. */
const interruptible = new Script('ask()')

/**
 * Invalid decisions are stored, since the balancer could not handle them: the scenario calls
 * {@link CustomPolicy.check}.
 */
export class CustomPolicy {
  readonly #file: string
  readonly #decide: UserPolicy
  readonly #answerMsMax: number
  readonly #context: { ask: () => unknown } = { ask: () => null }
  #failure: string | null = null

  constructor(file: string, decide: UserPolicy, answerMsMaximum: number) {
    this.#file = file
    this.#decide = decide
    this.#answerMsMax = answerMsMaximum
    createContext(this.#context)
  }

  /**
   * The default export of the module is the policy.
   * @param limits time to decide, and to load; default 10 s each
   * @throws OptionError with the file if it cannot be loaded in time, or does not export a function
   */
  static async load(
    file: string,
    { answerMs = answerMsMax, loadMs = loadMsMax }: PolicyLimits = {},
  ): Promise<CustomPolicy> {
    const outcome = await rehearseLoading(file, loadMs)
    if (outcome !== 'loaded')
      throw new OptionError(
        `the policy ${file} cannot be loaded: its code outside of the function ${notLoaded(outcome, loadMs)}.`,
      )
    let module: { readonly default?: unknown }
    try {
      module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
    } catch (error) {
      throw new OptionError(`the policy ${file} cannot be loaded: ${sentence(error)}.`)
    }
    if (typeof module.default !== 'function')
      throw new OptionError(
        `the policy ${file} does not export a function: write export default function policy(situation) { … }.`,
      )
    return new CustomPolicy(file, module.default as UserPolicy, answerMs)
  }

  readonly decide: BalancePolicy = (situation) => {
    if (this.#failure !== null) return []
    const moves = this.#moves(situation)
    if (typeof moves !== 'string') return moves
    this.#failure = `the policy ${this.#file}, called for ${situation.ns}: ${moves}.`
    return []
  }

  /** @throws ScenarioError for the first invalid decision */
  check(): void {
    if (this.#failure !== null) throw new ScenarioError(this.#failure)
  }

  #ask(situation: PolicySituation): unknown {
    this.#context.ask = () => this.#decide(situation)
    return interruptible.runInContext(this.#context, { timeout: this.#answerMsMax })
  }

  /** @returns moves, or the reason why the answer is invalid */
  #moves(situation: PolicySituation): readonly PolicyMove[] | string {
    let moves: readonly PolicyMove[] | string
    let again: readonly PolicyMove[] | string
    try {
      moves = checked(this.#ask(situation), situation)
      again = checked(this.#ask(situation), situation)
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
        return `it did not return within ${this.#answerMsMax} ms; it may contain an endless loop`
      return `it threw ${sentence(error)}`
    }
    if (typeof moves !== 'string' && JSON.stringify(moves) !== JSON.stringify(again))
      return 'two calls with the same arguments returned different moves; a policy must not keep state or use clocks or random numbers'
    return moves
  }
}

const notLoaded = (outcome: 'late' | 'never', loadMs: number): string =>
  outcome === 'late'
    ? `did not complete within ${loadMs} ms; it may contain an endless loop`
    : 'awaits a promise that never settles, or exits the process'

function checked(answer: unknown, situation: PolicySituation): readonly PolicyMove[] | string {
  // Avoids a second report as an unhandled rejection.
  if (answer instanceof Promise) answer.catch(() => {})
  if (!Array.isArray(answer)) return `it returned ${kindOf(answer)}, not a list of moves`
  const taken = new Set<string>()
  const moves: PolicyMove[] = []
  for (const [i, each] of answer.entries()) {
    const move = checkedMove(each, situation, taken)
    if (typeof move === 'string') return `move ${i} ${move}`
    moves.push(move)
  }
  return moves
}

function checkedMove(answer: unknown, { chunks, shards }: PolicySituation, taken: Set<string>): PolicyMove | string {
  if (typeof answer !== 'object' || answer === null) return `is ${kindOf(answer)}, not { chunk, to }`
  const {
    chunk: index,
    to,
    reason = 'chunksImbalance',
    because = 'the policy says so',
    ...others
  } = answer as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `has the unknown field ${unknown}; the fields are chunk, to, reason and because`
  const chunk = typeof index === 'number' ? chunks[index] : undefined
  if (chunk === undefined) return `has chunk ${shown(index)}; chunk must be an index from 0 to ${chunks.length - 1}`
  const target = shards.find(({ id }) => id === to)
  if (target === undefined) return `has to: ${shown(to)}; to must be one of ${shards.map(({ id }) => id).join(', ')}`
  if (chunk.isJumbo) return `has chunk ${String(index)}, which is jumbo and cannot move`
  if (target.id === chunk.shard) return `goes to ${target.id}, which already has the chunk`
  if (target.isDraining) return `goes to ${target.id}, which is draining`
  for (const id of [chunk.shard, target.id]) {
    if (taken.has(id)) return `uses ${id}, which another move already uses; a shard gives or takes one chunk per round`
    if (!shards.some((shard) => shard.id === id && shard.isAvailable))
      return `uses ${id}, which is not available in this round`
    taken.add(id)
  }
  if (typeof reason !== 'string' || !reasons.includes(reason))
    return `has the reason ${shown(reason)}; it must be one of ${reasons.join(', ')}`
  if (typeof because !== 'string') return `has ${kindOf(because)} as because, not a text`
  return { chunk: index as number, to: target.id, reason: reason as PolicyMove['reason'], because }
}

function kindOf(value: unknown): string {
  if (value instanceof Promise) return 'a promise'
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'a list' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

const shown = (value: unknown): string =>
  typeof value === 'number' ? String(value) : typeof value === 'string' ? JSON.stringify(value) : kindOf(value)

function sentence(thrown: unknown): string {
  const text =
    thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : typeof thrown === 'string' ? thrown : kindOf(thrown)
  return text.split('\n')[0]!.replace(/\.$/, '')
}
