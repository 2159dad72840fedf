import type { PortLimits } from '@shardlab/runtime'
import { suggestion } from '@shardlab/quantities'
import { OptionError } from './option-error.js'
import { parseSize } from './quantity-options.js'

/**
 * Of each member, for its clients. Reaching one is a `limit` event. Sessions have the parameter
 * `maxSessions` ({@link ClusterOptions.setParameter}).
 */
export interface ClientLimits {
  /** Further connections are closed at once. At least 5. Default 10000. */
  readonly maxIncomingConnections?: number
  /** A command that would leave another cursor open fails with 365. Default 100000. */
  readonly maxOpenCursors?: number
  /**
   * Of requests that arrive or run, without those of at most 1KB: a text such as `64MB`, at least
   * 64KB. A request that would exceed it fails with 365, and the connection of a compressed one is
   * closed. Requests of clients that have not logged in count, too. Default: no limit.
   */
  readonly maxRequestMemory?: string
}

export interface ResolvedLimits {
  readonly port: PortLimits
  /** null: the default. */
  readonly cursorsMax: number | null
}

const names: Readonly<Record<keyof ClientLimits, true>> = {
  maxIncomingConnections: true,
  maxOpenCursors: true,
  maxRequestMemory: true,
}
const leastConnections = 5
const leastRequestBytes = 65_536
const intMax = 2 ** 31 - 1

/** @throws OptionError */
export function resolveLimits(limits: ClientLimits = {}): ResolvedLimits {
  if (typeof limits !== 'object' || limits === null)
    throw new OptionError(`limits is ${JSON.stringify(limits)}; it must be an object with ${listed}.`)
  for (const name of Object.keys(limits))
    if (!Object.hasOwn(names, name))
      throw new OptionError(`limits has no option ${name}; ${suggestion(name, Object.keys(names)) ?? `use ${listed}.`}`)
  const { maxIncomingConnections, maxOpenCursors, maxRequestMemory } = limits
  check('maxIncomingConnections', maxIncomingConnections, leastConnections)
  check('maxOpenCursors', maxOpenCursors, 0)
  const requestBytesMax =
    maxRequestMemory === undefined ? undefined : parseSize('limits.maxRequestMemory', maxRequestMemory)
  if (requestBytesMax !== undefined && requestBytesMax < leastRequestBytes)
    throw new OptionError(`limits.maxRequestMemory is ${maxRequestMemory}; it must be at least 64KB.`)
  return {
    port: {
      ...(maxIncomingConnections === undefined ? {} : { maxIncomingConnections }),
      ...(requestBytesMax === undefined ? {} : { requestBytesMax }),
    },
    cursorsMax: maxOpenCursors ?? null,
  }
}

const listed = Object.keys(names).join(', ')

function check(name: string, value: number | undefined, min: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= intMax)) return
  throw new OptionError(
    `limits.${name} is ${JSON.stringify(value)}; it must be a whole number from ${min} to ${intMax}.`,
  )
}
