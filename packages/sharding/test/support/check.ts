import fc from 'fast-check'

/** Checks a property; a failure names the seed and path that replay it (`SHARDLAB_SEED` sets the seed). */
export function check<Ts>(property: fc.IProperty<Ts>, numRuns = 300): void {
  const seed = process.env['SHARDLAB_SEED']
  fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) })
}
