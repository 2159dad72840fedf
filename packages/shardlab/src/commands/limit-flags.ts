import type { ClientLimits, ClusterOptions } from '@shardlab/cluster'
import type { Command } from 'commander'
import { collect, size, wholeNumber } from './argument-parsers.js'

/** Those that a server has, too, have its names. */
export interface LimitFlags {
  readonly maxConns?: number | undefined
  readonly maxOpenCursors?: number | undefined
  readonly maxRequestMemory?: string | undefined
  /** `name=value`. */
  readonly setParameter?: readonly string[] | undefined
}

export function addLimitFlags(command: Command): Command {
  return command
    .option('--maxConns <n>', 'connections; further ones are closed (default: 10000)', wholeNumber)
    .option('--max-open-cursors <n>', 'open cursors (default: 100000)', wholeNumber)
    .option('--max-request-memory <size>', 'memory for requests that arrive or run (default: no limit)', size)
    .option('--setParameter <name=value>', 'server parameter, such as maxSessions=1000; may be repeated', collect)
}

/** The options of the API, which checks the values. */
export function optionsOfLimitFlags(flags: LimitFlags): Pick<ClusterOptions, 'limits' | 'setParameter'> {
  const { maxConns: maxIncomingConnections, maxOpenCursors, maxRequestMemory, setParameter } = flags
  const given = { maxIncomingConnections, maxOpenCursors, maxRequestMemory }
  const limits = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as ClientLimits
  return {
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(setParameter === undefined ? {} : { setParameter: Object.fromEntries(setParameter.map(nameAndValue)) }),
  }
}

function nameAndValue(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
