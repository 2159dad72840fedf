import { ActorHost } from '../host/actor-host.js'
import type { ActorHostOptions } from '../host/actor-host-options.js'
import { LiveClock } from '../host/time/live-clock.js'
import { LiveTurns } from '../host/time/live-turns.js'

/** The caller's thread, which only has the address of the API. */
export const supervisorHostId = 0

/** The host of the caller's thread, which sends the requests of the API and has no members. */
export function supervisorHost(
  options: Pick<ActorHostOptions, 'directory' | 'random' | 'events' | 'limits'>,
): ActorHost {
  const { atEndOfTurn, nextTurn } = new LiveTurns()
  return new ActorHost({
    ...options,
    hostId: supervisorHostId,
    clock: new LiveClock(),
    checked: false,
    atEndOfTurn,
    nextTurn,
    pageFaults: () => process.resourceUsage().majorPageFault,
    openGateway: null,
    onCrash: () => {},
    onStepStruck: () => {},
  })
}
