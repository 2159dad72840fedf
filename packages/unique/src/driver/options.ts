/** What `uniqueCollection` takes. */
import { RefusedOperationError } from '../core/errors.js'
import { parseSpec } from '../core/parse-spec.js'
import { overlaps, type UniqueSpec, type UniqueSpecOptions } from '../core/spec.js'
import type { ProxyPlan } from './init.js'

export interface UniqueFieldOptions extends UniqueSpecOptions {
  /** Name of the spec's proxy collection, where proxies are sharded; default `<collection>.unique.<fields joined by _>`. */
  readonly proxy?: string
}

export interface UniqueOptions {
  /** Fields, or combinations of fields, whose values have to be unique. */
  readonly unique: readonly (string | UniqueFieldOptions)[]
  /** One sharded collection for each spec (default), or one unsharded collection for all. */
  readonly proxies?: 'sharded' | 'unsharded'
  /** Name of the one proxy collection, where it is unsharded; default `<collection>.unique`. */
  readonly proxy?: string
  /** `auto`: every write is one transaction, until the server refuses that. Default: `never`. */
  readonly transactions?: 'never' | 'auto'
  /** How long a reservation holds without news of its writer; default 60,000, at least 1,000. */
  readonly reservationMs?: number
  /** How long a write waits for another one of the same document; default 5,000. */
  readonly busyMs?: number
}

export interface ParsedOptions {
  readonly specs: readonly UniqueSpec[]
  readonly proxies: readonly ProxyPlan[]
  readonly reservationMs: number
  readonly busyMs: number
  /** Whether writes are transactions as long as the deployment has them. */
  readonly transactions: boolean
}

/** @throws RefusedOperationError for what cannot be kept unique */
export function parseOptions(collection: string, options: UniqueOptions): ParsedOptions {
  const { unique, proxies = 'sharded', transactions = 'never', reservationMs = 60_000, busyMs = 5000 } = options
  if (unique.length === 0) throw new RefusedOperationError('name at least one unique field')
  if (proxies !== 'sharded' && proxies !== 'unsharded') {
    throw new RefusedOperationError(`proxies are 'sharded' or 'unsharded', not '${String(proxies)}'`)
  }
  if (transactions !== 'never' && transactions !== 'auto') {
    throw new RefusedOperationError(`transactions are 'never' or 'auto', not '${String(transactions)}'`)
  }
  if (!(reservationMs >= 1000))
    throw new RefusedOperationError(`reservationMs is ${reservationMs}; it has to be at least 1000`)
  if (!(busyMs >= 0)) throw new RefusedOperationError(`busyMs is ${busyMs}; it must not be negative`)
  const specs = unique.map(parseSpec)
  specs.forEach((spec, i) => {
    const other = specs.find((each, j) => j < i && each.name === spec.name)
    if (other !== undefined) throw new RefusedOperationError(`the unique field ${spec.name} is named twice`)
  })
  const plans = proxies === 'sharded' ? sharded(collection, specs, options) : [unsharded(collection, specs, options)]
  if (plans.some(({ name }) => name === collection))
    throw new RefusedOperationError(`${collection} cannot be its own proxy collection: give proxy another name`)
  return {
    specs,
    proxies: plans,
    reservationMs,
    busyMs,
    transactions: transactions === 'auto',
  }
}

function sharded(collection: string, specs: readonly UniqueSpec[], { unique, proxy }: UniqueOptions): ProxyPlan[] {
  if (proxy !== undefined && specs.length > 1) {
    throw new RefusedOperationError(
      'sharded proxies need one collection for each unique field: give proxy with each field',
    )
  }
  const plans = specs.map((spec, i): ProxyPlan => {
    if (spec.collation !== null) {
      throw new RefusedOperationError(
        `${spec.name} has a collation, but the index of a shard key compares exactly: use normalize, or proxies: 'unsharded'`,
      )
    }
    const given = unique[i]!
    const name = (typeof given === 'string' ? undefined : given.proxy) ?? proxy
    return { name: name ?? `${collection}.unique.${spec.fields.join('_')}`, specs: [spec], sharded: true }
  })
  if (new Set(plans.map(({ name }) => name)).size < plans.length) {
    throw new RefusedOperationError(
      'two unique fields have the same proxy collection: sharded proxies need one for each',
    )
  }
  return plans
}

function unsharded(collection: string, specs: readonly UniqueSpec[], { unique, proxy }: UniqueOptions): ProxyPlan {
  for (const given of unique) {
    if (typeof given !== 'string' && given.proxy !== undefined) {
      throw new RefusedOperationError('unsharded proxies are one collection: give proxy once, not with a field')
    }
  }
  const fields = specs.flatMap((spec) => spec.fields)
  const twice = fields.find((field, i) => fields.some((other, j) => i !== j && overlaps(field, other)))
  if (twice !== undefined) {
    throw new RefusedOperationError(
      `the field ${twice} is in two unique combinations, which one proxy document cannot hold: use proxies: 'sharded'`,
    )
  }
  return { name: proxy ?? `${collection}.unique`, specs, sharded: false }
}
