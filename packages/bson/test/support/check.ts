import fc from 'fast-check'

/** A failure prints the seed and path that replay it; `SHARDLAB_SEED` sets the seed. */
export function check<Ts>(property: fc.IProperty<Ts>, numRuns?: number): void
export function check<Ts>(property: fc.IAsyncProperty<Ts>, numRuns?: number): Promise<void>
export function check<Ts>(property: fc.IProperty<Ts> | fc.IAsyncProperty<Ts>, numRuns = 1000): Promise<void> | void {
  const seed = process.env['SHARDLAB_SEED']
  return fc.assert(property as fc.IAsyncProperty<Ts>, {
    numRuns,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  })
}
