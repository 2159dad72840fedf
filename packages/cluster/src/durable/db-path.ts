import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'

/** null: data is in memory. @throws OptionError */
export function resolveDbPath({ dbPath, from, clock }: ClusterOptions): string | null {
  if (dbPath === undefined) return null
  if (typeof dbPath !== 'string' || dbPath === '')
    throw new OptionError(`dbPath is ${JSON.stringify(dbPath)}; it must be the path of a directory.`)
  if (from !== undefined)
    throw new OptionError('a cluster from a snapshot has its data in memory: remove dbPath, or from.')
  if (clock === 'manual')
    throw new OptionError("dbPath needs clock: 'real', because files are written in real time: remove one of them.")
  return dbPath
}
