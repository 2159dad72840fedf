import { runOnce } from './run/run-once.js'
import { resolveLoad } from './run/resolve-options.js'
import { parseSweep, runSweep } from './run/sweep.js'
import type { LoadOptions, LoadReport } from './types.js'

/**
 * Runs a load test.
 * @throws OptionError for wrong options, workload files and addresses, before anything is written
 */
export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const sweep = options.sweep === undefined ? null : parseSweep(options.sweep)
  // What is wrong is said before the first cluster starts.
  resolveLoad(sweep === null || sweep.of === 'shards' || sweep.of === 'mongos' ? options : { ...options, [sweep.of]: sweep.values[0]! })
  return sweep === null ? runOnce(options) : runSweep(options, sweep)
}
