import fc from 'fast-check'

/** Checks a property; a failure names the seed and path that replay it (`SHARDLAB_SEED` sets the seed). */
export function check<Ts>(property: fc.IAsyncProperty<Ts>, numRuns = 100): Promise<void> {
  const seed = process.env['SHARDLAB_SEED']
  return fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) })
}
