import { RefusedOperationError } from '../core/errors.js'
import { parseSpec } from '../core/specs/parse-spec.js'
import { checkNames, shown } from '../core/specs/option-checks.js'
import { overlaps, type FieldPath, type UniqueSpec, type UniqueSpecOptions } from '../core/specs/spec.js'
import type { ProxyPlan } from './init.js'

export interface UniqueFieldOptions extends UniqueSpecOptions {
  /** Sharded proxies only; default `<collection>.unique.<fields joined by _>`. */
  readonly proxy?: string
}

export interface UniqueOptions {
  /** Fields, or combinations of fields. */
  readonly unique: readonly (FieldPath | UniqueFieldOptions)[]
  /** One sharded collection for each spec (default), or one unsharded collection for all. */
  readonly proxies?: 'sharded' | 'unsharded'
  /** Unsharded proxies only; default `<collection>.unique`. */
  readonly proxy?: string
  /**
   * `auto` (default): a write is one transaction where the deployment has transactions. `never`:
   * writes make reservations and confirm them.
   */
  readonly transactions?: 'never' | 'auto'
  /** Lifetime of a reservation that its writer does not renew; default 60,000, at least 1,000. */
  readonly reservationMs?: number
  /** How long a write waits for another write of the same document; default 5,000. */
  readonly busyMs?: number
}

export interface ParsedOptions {
  readonly specs: readonly UniqueSpec[]
  readonly proxies: readonly ProxyPlan[]
  readonly reservationMs: number
  readonly busyMs: number
  readonly transactions: boolean
}

const optionNames = ['unique', 'proxies', 'proxy', 'transactions', 'reservationMs', 'busyMs']

/** @throws RefusedOperationError for options that are not valid or cannot keep values unique */
export function parseOptions(collection: string, options: UniqueOptions): ParsedOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new RefusedOperationError(`the options are ${shown(options)}: use { unique: ['email'] }`)
  checkNames('uniqueCollection', options, optionNames)
  const { unique, proxies = 'sharded', transactions = 'auto', reservationMs = 60_000, busyMs = 5000 } = options
  if (unique === undefined)
    throw new RefusedOperationError("the option unique is missing: name at least one field, { unique: ['email'] }")
  if (!Array.isArray(unique))
    throw new RefusedOperationError(`the option unique is ${shown(unique)}: use an array, [${shown(unique)}]`)
  if (unique.length === 0) throw new RefusedOperationError('the option unique is empty: name at least one field')
  if (proxies !== 'sharded' && proxies !== 'unsharded') {
    throw new RefusedOperationError(`the option proxies is ${shown(proxies)}: use 'sharded' or 'unsharded'`)
  }
  if (transactions !== 'never' && transactions !== 'auto') {
    throw new RefusedOperationError(`the option transactions is ${shown(transactions)}: use 'never' or 'auto'`)
  }
  checkMs('reservationMs', reservationMs, 1000)
  checkMs('busyMs', busyMs, 0)
  const specs = unique.map((each) => parseSpec(each))
  for (const each of [options, ...unique]) checkProxyName((each as UniqueFieldOptions).proxy)
  specs.forEach((spec, i) => {
    const other = specs.find((each, j) => j < i && each.name === spec.name)
    if (other !== undefined)
      throw new RefusedOperationError(`the unique field ${spec.name} is listed twice: list it once`)
  })
  const plans = proxies === 'sharded' ? sharded(collection, specs, options) : [unsharded(collection, specs, options)]
  if (plans.some(({ name }) => name === collection))
    throw new RefusedOperationError(
      `${collection} cannot be its own proxy collection: use another name in the option proxy`,
    )
  return {
    specs,
    proxies: plans,
    reservationMs,
    busyMs,
    transactions: transactions === 'auto',
  }
}

function checkMs(name: string, value: unknown, min: number): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < min)
    throw new RefusedOperationError(
      `the option ${name} is ${shown(value)}: use a number of milliseconds, at least ${min}`,
    )
}

function checkProxyName(proxy: unknown): void {
  if (proxy !== undefined && (typeof proxy !== 'string' || proxy === ''))
    throw new RefusedOperationError(`the option proxy is ${shown(proxy)}: use the name of a collection`)
}

function sharded(collection: string, specs: readonly UniqueSpec[], { unique, proxy }: UniqueOptions): ProxyPlan[] {
  if (proxy !== undefined && specs.length > 1) {
    throw new RefusedOperationError(
      'the option proxy names one collection, but each unique field needs a sharded proxy collection of its own: set proxy for each field',
    )
  }
  const plans = specs.map((spec, i): ProxyPlan => {
    if (spec.collation !== null) {
      throw new RefusedOperationError(
        `the unique field ${spec.name} has a collation, but the index of a shard key compares exactly: use normalize, or proxies: 'unsharded'`,
      )
    }
    const given = unique[i]!
    const name = (given as UniqueFieldOptions).proxy ?? proxy
    return { name: name ?? `${collection}.unique.${spec.fields.join('_')}`, specs: [spec], sharded: true }
  })
  if (new Set(plans.map(({ name }) => name)).size < plans.length) {
    throw new RefusedOperationError(
      'two unique fields have the same sharded proxy collection: use a different name for each',
    )
  }
  return plans
}

function unsharded(collection: string, specs: readonly UniqueSpec[], { unique, proxy }: UniqueOptions): ProxyPlan {
  for (const given of unique) {
    if ((given as UniqueFieldOptions).proxy !== undefined) {
      throw new RefusedOperationError(
        'a unique field has the option proxy, but all fields share the unsharded proxy collection: set proxy once, next to unique',
      )
    }
  }
  const fields = specs.flatMap((spec) => spec.fields)
  const twice = fields.find((field, i) => fields.some((other, j) => i !== j && overlaps(field, other)))
  if (twice !== undefined) {
    throw new RefusedOperationError(
      `the field ${twice} is in two unique combinations, which an unsharded proxy collection cannot store: use proxies: 'sharded'`,
    )
  }
  return { name: proxy ?? `${collection}.unique`, specs, sharded: false }
}
