import { runOnce } from './run/run-once.js'
import { checkScopes } from './report/expect.js'
import { resolveLoad } from './run/resolve-options.js'
import { parseSweep, runSweep, stepOf, type Sweep } from './run/sweep.js'
import { OptionError } from './option-error.js'
import type { LoadOptions, LoadReport } from './types.js'

/**
 * @throws OptionError for invalid options, workload files and addresses, before anything is written
 */
export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const sweep = options.sweep === undefined ? null : parseSweep(options.sweep)
  // Report invalid options before the first cluster starts.
  const { workload } = resolveLoad(sweep === null ? options : firstStepOf(options, sweep))
  checkScopes(
    options.expectations ?? [],
    workload.operations.map(({ name }) => name),
  )
  return sweep === null ? runOnce(options) : runSweep(options, sweep)
}

function firstStepOf(options: LoadOptions, { of, values }: Sweep): LoadOptions {
  if (of === 'shards' || of === 'mongos') return options
  if (options[of] !== undefined) throw new OptionError(`${of} is what the sweep changes: leave out --${of}`)
  for (const value of values) resolveLoad(stepOf(options, of, value))
  return stepOf(options, of, values[0]!)
}
