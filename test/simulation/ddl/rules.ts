import { namedSteps } from '@shardlab/actor'

/** Steps at which members crash. */
export const ddlSteps = namedSteps.filter((step) =>
  /^(shard\.(create|coll-mod|drop|rename|refine|track|move-primary|merge)|shard\.resharding|config\.resharding|config\.migration|shard\.migration)/.test(
    step,
  ),
)

/** Errors that tell a client of a defect: InternalError, and those that routers handle. */
export const unspeakable: ReadonlySet<number> = new Set([1, 8, 227])

/** An error of an unreachable member leaves it open whether the command continues. */
export function isLeftOpen(code: number): boolean {
  return [6, 133, 91, 46].includes(code)
}
