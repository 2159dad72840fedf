/** Fifty times as many with SHARDLAB_LONG=1. */
export function runs(quick: number): number {
  return process.env.SHARDLAB_LONG === '1' ? quick * 50 : quick
}
