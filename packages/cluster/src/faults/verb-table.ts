/** A verb is one file in `verbs/` and one row here. */
import type { FaultVerb } from './fault-verb.js'
import { crash } from './verbs/crash.js'
import { crashAt } from './verbs/crash-at.js'
import { cut } from './verbs/cut.js'
import { delay } from './verbs/delay.js'
import { delayReplication } from './verbs/delay-replication.js'
import { destroy } from './verbs/destroy.js'
import { drop } from './verbs/drop.js'
import { duplicate } from './verbs/duplicate.js'
import { fail } from './verbs/fail.js'
import { freezeRoutes } from './verbs/freeze-routes.js'
import { fullDisk } from './verbs/full-disk.js'
import { hold } from './verbs/hold.js'
import { jumpClock } from './verbs/jump-clock.js'
import { limit } from './verbs/limit.js'
import { partition } from './verbs/partition.js'
import { pause } from './verbs/pause.js'
import { refuse } from './verbs/refuse.js'
import { restart } from './verbs/restart.js'
import { resume } from './verbs/resume.js'
import { shrinkOplog } from './verbs/shrink-oplog.js'
import { skewClock } from './verbs/skew-clock.js'
import { slow } from './verbs/slow.js'
import { slowDisk } from './verbs/slow-disk.js'
import { stallRangeDeleter } from './verbs/stall-range-deleter.js'
import { stepDown } from './verbs/step-down.js'
import { stop } from './verbs/stop.js'

/**
 * The order of help texts and of the draws of `shardlab swarm`. Only append, or its seeds change
 * their meaning.
 */
export const verbTable = [
  crash,
  destroy,
  restart,
  stop,
  pause,
  resume,
  stepDown,
  slow,
  slowDisk,
  fullDisk,
  skewClock,
  jumpClock,
  freezeRoutes,
  stallRangeDeleter,
  partition,
  delay,
  limit,
  drop,
  refuse,
  cut,
  duplicate,
  hold,
  fail,
  crashAt,
  delayReplication,
  shrinkOplog,
] as const

const byName = new Map<string, FaultVerb>(verbTable.map((verb) => [verb.verb, verb as FaultVerb]))

/** undefined: unknown. */
export function verbNamed(name: string): FaultVerb | undefined {
  return byName.get(name)
}
