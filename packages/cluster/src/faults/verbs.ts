import type { FaultVerb } from './schema.js'

const known: Readonly<Record<FaultVerb, true>> = {
  crash: true,
  destroy: true,
  restart: true,
  stop: true,
  pause: true,
  resume: true,
  stepDown: true,
  slow: true,
  slowDisk: true,
  fullDisk: true,
  skewClock: true,
  jumpClock: true,
  freezeRoutes: true,
  stallRangeDeleter: true,
  partition: true,
  delay: true,
  limit: true,
  drop: true,
  refuse: true,
  cut: true,
  duplicate: true,
  hold: true,
  fail: true,
  crashAt: true,
}

/** Every verb of a fault. */
export const faultVerbs = Object.keys(known) as readonly FaultVerb[]
